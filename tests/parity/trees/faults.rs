//! What may be wrong with a tree, as far as lockctl looks for it.

use proptest::prelude::*;
use proptest::sample::select;

use super::strategy::{Fault, a_bad_constraint, a_bad_source};

// A `required_version` that the program at hand does not meet is left out: whose rules apply says
// nothing of which of its versions will run.
const TEXTS: &[&str] = &[
    "resource \"alpha_x\" \"q\" {}\nresource \"alpha_x\" \"q\" {}\n",
    "data \"alpha_x\" \"q\" {}\ndata \"alpha_x\" \"q\" {}\n",
    "provider \"alpha\" {\n  alias = \"q\"\n}\nprovider \"alpha\" {\n  alias = \"q\"\n}\n",
    "variable \"q\" {}\nvariable \"q\" {}\n",
    "output \"q\" {\n  value = 1\n}\noutput \"q\" {\n  value = 1\n}\n",
    "locals {\n  q = 1\n}\nlocals {\n  q = 1\n}\n",
    "module \"q\" {\n}\n",
    "module \"q\" {\n  source = \"mods\"\n}\n",
    "module \"q\" {\n  source = \"./nowhere\"\n}\n",
    "module \"q\" {\n  source = \"./\"\n  version = \"1.0\"\n}\n",
    "module \"q\" {\n  source = var.q\n}\n",
    "module \"q\" {\n  source = 1\n}\n",
    "module \"q\" {\n  source = null\n}\n",
    "resource \"alpha_x\" \"q\" {\n  provider = alpha[0]\n}\n",
    "resource \"alpha_x\" \"q\" {\n  provider = al_pha\n}\n",
    "resource \"_x\" \"q\" {}\n",
    "resource \"alpha_x\" {}\n",
    "resource \"alpha x\" \"q\" {}\n",
    "terraform {\n  required_version = \"latest\"\n}\n",
    "terraform {\n  q = 1\n}\n",
    "terraform \"q\" {\n}\n",
    "terraform {\n  backend \"nothing\" {}\n}\n",
    "required_providers {\n  alpha = \"1.0\"\n}\n",
    "provider \"alpha\" {\n  alias = \"a b\"\n}\n",
    "provider \"alpha\" {\n  alias = var.q\n}\n",
    "provider \"alpha\" {\n  alias = \"q\"\n  version = var.q\n}\n",
    "provider \"alpha\" {\n  alias = \"q\"\n  count = 2\n}\n",
    "provider \"al_pha\" {}\n",
    "provider {}\n",
    "variable \"count\" {}\n",
    "list \"alpha_x\" \"q\" {}\n",
    "action \"alpha_x\" \"q\" {}\n",
    "q = 1\n",
    "q {}\n",
    "resource \"alpha_x\" \"q\" {\n",
    "locals {\n  q = \"${\n}\n",
    "locals {\n  q = \"\\z\"\n}\n",
    "locals {\n  q = 1 2\n}\n",
    "locals {\n  q = 1\n  q = 2\n}\n",
    "locals { q = 1, r = 2 }\n",
];

const JSONS: &[&str] = &[
    "{",
    "[1]",
    "\"x\"",
    "",
    "{\"q\": {}}",
    "{\"resource\": {\"alpha_x\": []}}",
    "{\"resource\": {\"alpha_x\": {\"q\": 1}}}",
    "{\"resource\": {\"alpha_x\": {\"q\": {\"provider\": \"a b\"}}}}",
    "{\"terraform\": {\"q\": 1}}",
    "{\"terraform\": {\"backend\": {\"nothing\": {}}}}",
    "{\"provider\": {\"alpha\": [{\"alias\": \"q\"}, {\"alias\": \"q\"}]}}",
    "{\"provider\": []}",
    "{\"module\": {\"q\": {}}}",
    "{\"module\": {\"q\": {\"source\": \"mods\"}}}",
    "{\"module\": {\"q\": {\"source\": \"${var.q}\"}}}",
    "{\"variable\": {\"q\": {}, \"q\": {}}}",
    "{\"locals\": {\"q\": 1, \"q\": 2}}",
    "{\"locals\": {\"q\": 01}}",
    "{\"locals\": {\"q\": tru}}",
    "{\"locals\": {\"q\": 1,}}",
    "{\"locals\": {\"q\" 1}}",
    "{\"required_providers\": {}}",
];

const TESTS: &[&str] = &[
    "run \"q\" {}\nrun \"q\" {}\n",
    "run \"a b\" {}\n",
    "run {}\n",
    "run \"q\" {\n  module {}\n}\n",
    "run \"q\" {\n  module {\n    source = \"mods\"\n  }\n}\n",
    "run \"q\" {\n  module {\n    source = \"./nowhere\"\n  }\n}\n",
    "run \"q\" {\n  module {\n    source = var.q\n  }\n}\n",
    "provider \"alpha\" {\n  version = \"1.0\"\n}\n",
    "resource \"alpha_x\" \"q\" {}\n",
    "run \"q\" {\n",
];

const STATES: &[&str] = &[
    "{",
    "[]",
    "{\"version\": 99}",
    "{\"version\": 4, \"resources\": 1}",
];

/// Makes one fault.
pub(super) fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        2 => a_bad_source().prop_map(Fault::Source),
        2 => a_bad_constraint().prop_map(Fault::Constraint),
        1 => a_bad_constraint().prop_map(Fault::Version),
        6 => select(TEXTS).prop_map(Fault::Text),
        3 => select(JSONS).prop_map(Fault::Json),
        2 => select(TESTS).prop_map(Fault::Test),
        1 => select(STATES).prop_map(Fault::State),
    ]
}
