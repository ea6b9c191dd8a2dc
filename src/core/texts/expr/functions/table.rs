//! The table of all functions, sorted by name.

use std::cmp::Ord;

use md5::Md5;
use sha1::Sha1;
use sha2::{Sha256, Sha512};

use super::FunctionBody::{NotComputed, Plain, Removed, Special};
use super::FunctionDialect::{AfterTerraform0_15, OnlyOpenTofu, OnlyTerraform, OnlyTerraform0_15};
use super::SignatureType::{Any, Bool, Bools, List, Nullable, Number, Set, Text, Texts};
use super::{CallArguments, CallResult, Function, FunctionBody, FunctionDialect, NeededKnowledge};
use super::{Evaluator, Outcome, SignatureType};
use super::{
    collections, encoding, files, format, hashes, numbers, patterns, products, sequences, special,
    strings, yaml,
};
use crate::diag::Span;
use crate::expr::types::Type;
use crate::hcl::tree::Call;

const fn function(
    name: &'static str,
    parameters: &'static [SignatureType],
    result: SignatureType,
    body: fn(&CallArguments<'_>) -> CallResult,
) -> Function {
    Function {
        name,
        parameters,
        variadic: None,
        result,
        needs: NeededKnowledge::AllParts,
        dialect: FunctionDialect::All,
        body: Plain(body),
    }
}

/// A function that evaluates its arguments itself, and checks how many there are.
const fn special(
    name: &'static str,
    body: for<'e> fn(&mut Evaluator<'e>, &'e Call, Span) -> Outcome,
) -> Function {
    without_body(name, Special(body))
}

const fn without_body(name: &'static str, body: FunctionBody) -> Function {
    Function {
        name,
        parameters: &[],
        variadic: Some(Nullable),
        result: Any,
        needs: NeededKnowledge::Nothing,
        dialect: FunctionDialect::All,
        body,
    }
}

impl Function {
    const fn variadic(self, further: SignatureType) -> Self {
        Self {
            variadic: Some(further),
            ..self
        }
    }

    /// Computes the function although parts of its arguments are unknown.
    const fn with_unknown_parts(self) -> Self {
        Self {
            needs: NeededKnowledge::Arguments,
            ..self
        }
    }

    /// Computes the function although its arguments are unknown.
    const fn with_unknown_arguments(self) -> Self {
        Self {
            needs: NeededKnowledge::Nothing,
            ..self
        }
    }

    const fn only(self, dialect: FunctionDialect) -> Self {
        Self { dialect, ..self }
    }
}

/// All functions of Terraform and OpenTofu.
///
/// Those that no source of a module, no local value of Terragrunt and no `dynamic` block is likely to need are not
/// computed (rules 6.5): addresses of networks, times, further encodings and products. Others cannot be: `base64gzip`
/// depends on one implementation of DEFLATE, `log` on the rounding of floats; `bcrypt` draws a random salt.
#[rustfmt::skip]
pub(super) static FUNCTIONS: &[Function] = &[
    function("abs", &[Number], Number, numbers::abs),
    function("abspath", &[Text], Text, files::abspath),
    function("alltrue", &[Bools], Bool, |args| collections::truths(args, true)),
    function("anytrue", &[Bools], Bool, |args| collections::truths(args, false)),
    function("base64decode", &[Text], Text, encoding::base64_decode),
    function("base64encode", &[Text], Text, encoding::base64_encode),
    without_body("base64gunzip", NotComputed).only(OnlyOpenTofu),
    without_body("base64gzip", NotComputed),
    function("base64sha256", &[Text], Text, |args| hashes::of_text::<Sha256>(args, hashes::in_base64)),
    function("base64sha512", &[Text], Text, |args| hashes::of_text::<Sha512>(args, hashes::in_base64)),
    function("basename", &[Text], Text, files::basename),
    without_body("bcrypt", NotComputed),
    special("can", special::can),
    function("ceil", &[Number], Number, numbers::ceil),
    function("chomp", &[Text], Text, strings::chomp),
    function("chunklist", &[List, Number], Any, sequences::chunklist).with_unknown_parts(),
    without_body("cidrcontains", NotComputed).only(OnlyOpenTofu),
    without_body("cidrhost", NotComputed),
    without_body("cidrnetmask", NotComputed),
    without_body("cidrsubnet", NotComputed),
    without_body("cidrsubnets", NotComputed),
    function("coalesce", &[], Any, collections::coalesce).variadic(Nullable).with_unknown_arguments(),
    function("coalescelist", &[], Any, collections::coalescelist).variadic(Nullable).with_unknown_parts(),
    function("compact", &[Texts], Any, sequences::compact),
    function("concat", &[], Any, sequences::concat).variadic(Any).with_unknown_parts(),
    function("contains", &[Any, Any], Bool, collections::contains),
    without_body("convert", NotComputed).only(OnlyTerraform),
    without_body("csvdecode", NotComputed),
    without_body("defaults", NotComputed).only(OnlyTerraform0_15),
    function("dirname", &[Text], Text, files::dirname),
    function("distinct", &[List], Any, sequences::distinct),
    function("element", &[Any, Number], Any, collections::element).with_unknown_parts(),
    function("endswith", &[Text, Text], Bool, strings::endswith).only(AfterTerraform0_15),
    without_body("ephemeralasnull", NotComputed).only(AfterTerraform0_15),
    function("file", &[Text], Text, files::file),
    function("filebase64", &[Text], Text, encoding::filebase64),
    function("filebase64sha256", &[Text], Text, |args| hashes::of_file::<Sha256>(args, hashes::in_base64)),
    function("filebase64sha512", &[Text], Text, |args| hashes::of_file::<Sha512>(args, hashes::in_base64)),
    function("fileexists", &[Text], Bool, files::fileexists),
    function("filemd5", &[Text], Text, |args| hashes::of_file::<Md5>(args, hashes::in_hex)),
    without_body("fileset", NotComputed),
    function("filesha1", &[Text], Text, |args| hashes::of_file::<Sha1>(args, hashes::in_hex)),
    function("filesha256", &[Text], Text, |args| hashes::of_file::<Sha256>(args, hashes::in_hex)),
    function("filesha512", &[Text], Text, |args| hashes::of_file::<Sha512>(args, hashes::in_hex)),
    function("flatten", &[Any], Any, sequences::flatten).with_unknown_parts(),
    function("floor", &[Number], Number, numbers::floor),
    function("format", &[Text], Text, format::format).variadic(Nullable),
    without_body("formatdate", NotComputed),
    function("formatlist", &[Text], Any, format::formatlist).variadic(Nullable),
    function("indent", &[Number, Text], Text, strings::indent),
    function("index", &[Any, Any], Number, collections::index),
    special("issensitive", special::issensitive).only(AfterTerraform0_15),
    function("join", &[Text], Text, strings::join).variadic(Texts),
    function("jsondecode", &[Text], Any, encoding::jsondecode),
    function("jsonencode", &[Nullable], Text, encoding::jsonencode),
    function("keys", &[Any], Any, collections::keys).with_unknown_parts(),
    function("length", &[Any], Number, collections::length).with_unknown_parts(),
    without_body("list", Removed).only(OnlyTerraform0_15),
    without_body("log", NotComputed),
    function("lookup", &[Any, Text], Any, collections::lookup).variadic(Nullable).with_unknown_parts(),
    function("lower", &[Text], Text, strings::lower),
    without_body("map", Removed).only(OnlyTerraform0_15),
    without_body("matchkeys", NotComputed),
    function("max", &[], Number, |args| numbers::extreme(args, Ord::max)).variadic(Number),
    function("md5", &[Text], Text, |args| hashes::of_text::<Md5>(args, hashes::in_hex)),
    function("merge", &[], Any, collections::merge).variadic(Nullable).with_unknown_parts(),
    function("min", &[], Number, |args| numbers::extreme(args, Ord::min)).variadic(Number),
    special("nonsensitive", special::nonsensitive),
    function("one", &[Any], Any, collections::one).with_unknown_parts(),
    without_body("parseint", NotComputed),
    function("pathexpand", &[Text], Text, files::pathexpand),
    special("plantimestamp", special::plantimestamp).only(AfterTerraform0_15),
    without_body("pow", NotComputed),
    function("range", &[], Any, numbers::range).variadic(Number),
    function("regex", &[Text, Text], Any, patterns::regex),
    function("regexall", &[Text, Text], Any, patterns::regexall),
    function("replace", &[Text, Text, Text], Text, patterns::replace),
    function("reverse", &[Any], Any, sequences::reverse).with_unknown_parts(),
    without_body("rsadecrypt", NotComputed),
    special("sensitive", special::sensitive),
    function("setintersection", &[Set], Any, sequences::setintersection).variadic(Set),
    function("setproduct", &[], Any, products::setproduct).variadic(Any).with_unknown_arguments(),
    function("setsubtract", &[Set, Set], Any, sequences::setsubtract),
    function("setunion", &[Set], Any, sequences::setunion).variadic(Set),
    function("sha1", &[Text], Text, |args| hashes::of_text::<Sha1>(args, hashes::in_hex)),
    function("sha256", &[Text], Text, |args| hashes::of_text::<Sha256>(args, hashes::in_hex)),
    function("sha512", &[Text], Text, |args| hashes::of_text::<Sha512>(args, hashes::in_hex)),
    without_body("signum", NotComputed),
    function("slice", &[Any, Number, Number], Any, sequences::slice).with_unknown_parts(),
    function("sort", &[Texts], Any, sequences::sort),
    function("split", &[Text, Text], Any, strings::split),
    function("startswith", &[Text, Text], Bool, strings::startswith).only(AfterTerraform0_15),
    function("strcontains", &[Text, Text], Bool, strings::strcontains).only(AfterTerraform0_15),
    without_body("strrev", NotComputed),
    function("substr", &[Text, Number, Number], Text, strings::substr),
    function("sum", &[Any], Number, collections::sum),
    special("templatefile", special::templatefile),
    without_body("templatestring", NotComputed).only(AfterTerraform0_15),
    without_body("textdecodebase64", NotComputed),
    without_body("textencodebase64", NotComputed),
    without_body("timeadd", NotComputed),
    without_body("timecmp", NotComputed).only(AfterTerraform0_15),
    special("timestamp", |eval, _, span| special::volatile(eval, "timestamp", span)),
    without_body("title", NotComputed),
    special("tobool", |eval, call, span| special::to(eval, call, span, &Bool.ty())),
    special("tolist", |eval, call, span| special::to(eval, call, span, &List.ty())),
    special("tomap", |eval, call, span| special::to(eval, call, span, &Type::Map(Box::new(Type::Any)))),
    special("tonumber", |eval, call, span| special::to(eval, call, span, &Number.ty())),
    special("toset", |eval, call, span| special::to(eval, call, span, &Set.ty())),
    special("tostring", |eval, call, span| special::to(eval, call, span, &Text.ty())),
    without_body("transpose", NotComputed),
    function("trim", &[Text, Text], Text, strings::trim),
    function("trimprefix", &[Text, Text], Text, strings::trimprefix),
    function("trimspace", &[Text], Text, strings::trimspace),
    function("trimsuffix", &[Text, Text], Text, strings::trimsuffix),
    special("try", special::try_each),
    function("upper", &[Text], Text, strings::upper),
    without_body("urldecode", NotComputed).only(OnlyOpenTofu),
    function("urlencode", &[Text], Text, encoding::urlencode),
    special("uuid", |eval, _, span| special::volatile(eval, "uuid", span)),
    without_body("uuidv5", NotComputed),
    function("values", &[Any], Any, collections::values).with_unknown_parts(),
    function("yamldecode", &[Text], Any, yaml::yamldecode),
    without_body("yamlencode", NotComputed),
    function("zipmap", &[Texts, Any], Any, collections::zipmap).with_unknown_parts(),
];

#[cfg(test)]
mod tests {
    use super::FUNCTIONS;

    #[test]
    fn names_are_sorted() {
        assert!(FUNCTIONS.is_sorted_by(|a, b| a.name < b.name));
    }
}
