# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "example.com/acme/greeter" {
  version     = "1.0.0"
  constraints = "~> 1.0"
  hashes = [
    "h1:tVSwY7qcn4Fg6JOJGQrHhFtOF0sRV9sshC0Unu+D7nk=",
  ]
}
