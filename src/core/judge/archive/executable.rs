//! Distinguishes packages that hold a provider from others.

/// Returns true if a package has the program of a provider: a file at its top level named
/// `terraform-provider-TYPE`, alone or followed by `_…` or `.…` (rules 6.1).
///
/// Takes the names of the files, without directories. Neither the version in the name nor the
/// executable bit is looked at, as in the programs.
///
/// ```
/// use lockctl_core::archive::has_executable;
///
/// assert!(has_executable([&b"terraform-provider-aws_v5.0.0_x5"[..]], "aws"));
/// assert!(!has_executable([&b"bin/terraform-provider-aws"[..]], "aws"));
/// ```
pub fn has_executable<'a>(names: impl IntoIterator<Item = &'a [u8]>, type_name: &str) -> bool {
    names.into_iter().any(|name| is_program(name, type_name))
}

/// Returns true if a name is that of the program, as [`has_executable`] looks for it.
pub(super) fn is_program(name: &[u8], type_name: &str) -> bool {
    let program = format!("terraform-provider-{type_name}");
    name.strip_prefix(program.as_bytes()).is_some_and(|rest| {
        // So `terraform-provider-x-y` is no program of the provider `x` (rules 6.1).
        matches!(rest.first(), None | Some(b'_' | b'.')) && !rest.contains(&b'/')
    })
}

/// Returns true if a package has the program of some provider: a name at its top level that begins
/// with `terraform-provider-`, and is that of no zip.
///
/// Takes names as [`has_executable`].
pub fn has_any_executable<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> bool {
    names.into_iter().any(|name| {
        let type_name = name.strip_prefix(b"terraform-provider-");
        let is_top = type_name.is_some_and(|rest| !rest.is_empty() && !rest.contains(&b'/'));
        is_top && !name.to_ascii_lowercase().ends_with(b".zip")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: bool) {
        assert_eq!(has_executable([name.as_bytes()], "x"), expected, "{name:?}");
    }

    #[test]
    fn the_program_lies_at_the_top_and_has_the_right_name() {
        check("terraform-provider-x", true);
        check("terraform-provider-x_v1.0.0", true);
        check("terraform-provider-x_v9.9.9_x5", true);
        check("terraform-provider-x.exe", true);
        check("terraform-provider-x_", true);
        check("terraform-provider-xy_v1.0.0", false);
        check("terraform-provider-x-y", false);
        check("Terraform-Provider-X_v1.0.0", false);
        check("pkg/terraform-provider-x_v1.0.0", false);
        check("terraform-provider-x_dir/file", false);
        check("README", false);
        assert!(!has_executable([], "x"));
    }

    #[test]
    fn any_provider_will_do() {
        assert!(has_any_executable([
            &b"LICENSE"[..],
            b"terraform-provider-x_v1.0.0"
        ]));
        assert!(!has_any_executable([
            &b"terraform-provider-x_1.0.0_linux_amd64.zip"[..]
        ]));
        assert!(!has_any_executable([
            &b"terraform-provider-"[..],
            b"a/terraform-provider-x"
        ]));
    }
}
