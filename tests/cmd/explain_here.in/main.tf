terraform {
  required_providers {
    demo = { source = "acme/demo", version = "1.0.0" }
  }
}
