# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/demo" {
  version     = "1.0.0"
  constraints = "1.0.0"
  hashes = [
    "h1:DXqaovDRhkmWv/SNlmK7iSo7EZLTzAy5TPCV2wqnRik=",
  ]
}
