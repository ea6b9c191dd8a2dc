//! Values as JSON has them: the text that each is parsed from.

use crate::addr::{ProviderAddr, Url};
use crate::diag::Help;
use crate::hash::Hash;
use crate::platform::Platform;
use crate::version::{Constraints, Version};

/// Serializes types as the text that they display, and describes them as text in the schema.
macro_rules! as_text {
    ($($name:ident),*) => {$(
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                <String as schemars::JsonSchema>::schema_name()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <String as schemars::JsonSchema>::json_schema(generator)
            }
        }
    )*};
}

as_text!(
    Constraints,
    Hash,
    Help,
    Platform,
    ProviderAddr,
    Url,
    Version
);

pub(crate) use as_text;
