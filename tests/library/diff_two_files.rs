//! Tells a reviewer whether a change of a lock file is alarming.

use lockctl_core::diff::{Explained, ProviderChange, Risk, explain};
use lockctl_core::{Flavor, LockFile, diff};

fn alarms(old: &str, new: &str) -> Vec<String> {
    let read = |text: &str| LockFile::parse(text.as_bytes(), Flavor::OpenTofu1_12).unwrap();
    let changes = diff(&read(old), &read(new)).providers;
    let explained = changes.iter().map(|change| (change, explain(change)));
    let alarming = explained.filter(|(_, explained)| explained.risk >= Risk::Warning);
    let text = |(change, explained): (&ProviderChange, _)| {
        let explained: Explained = explained;
        format!("{}: {}", change.addr(), explained.sentence())
    };
    alarming.map(text).collect()
}

#[test]
fn a_downgrade_is_alarming_and_an_upgrade_is_not() {
    let entry = |version: &str| {
        format!("provider \"example.com/acme/tool\" {{\n  version = \"{version}\"\n}}\n")
    };
    assert_eq!(alarms(&entry("1.0.0"), &entry("1.0.1")), [""; 0]);
    let alarms = alarms(&entry("1.0.1"), &entry("1.0.0"));
    assert_eq!(alarms.len(), 1, "{alarms:?}");
    assert!(
        alarms[0].starts_with("example.com/acme/tool: "),
        "{alarms:?}"
    );
}
