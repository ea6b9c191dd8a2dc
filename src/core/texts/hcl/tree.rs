//! The tree of a file: blocks, attributes and expressions, each with its bytes.
//!
//! Native and JSON syntax give the same tree. Spans point into the original bytes of the file, a
//! byte-order mark included.

use crate::diag::Span;

/// The contents of a file or of a block, in source order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Arguments and blocks, in source order.
    pub items: Vec<Item>,
    /// From behind `{` to before `}`; for a file, all of it.
    pub span: Span,
}

/// One thing in a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// An argument: `name = expression`.
    Attribute(Attribute),
    /// `kind "label" { … }`
    Block(Block),
}

/// A piece of text with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The text, decoded if it was in quotes.
    pub text: String,
    /// The bytes of the word, quotes included.
    pub span: Span,
}

/// An argument of a body: `name = expression`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The name before the equals sign.
    pub name: Word,
    /// The expression after the equals sign.
    pub value: Expr,
    /// From the name to the end of the expression.
    pub span: Span,
}

/// `kind "label" { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The first word, which is the type of the block.
    pub kind: Word,
    /// The labels in their order, decoded.
    pub labels: Vec<Word>,
    /// The items between the braces.
    pub body: Body,
    /// From the first word to the last label (to the first word if there is none).
    pub header: Span,
    /// From the first word to the closing brace.
    pub span: Span,
}

/// An expression with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The form of the expression.
    pub kind: ExprKind,
    /// The bytes of the expression.
    pub span: Span,
}

/// The form of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// The keyword `null` as a value.
    Null,
    /// The word `true` or `false`.
    Bool(bool),
    /// A number, as written.
    Number(String),
    /// A string without interpolation, decoded; not yet normalised.
    String(String),
    /// A quoted string or heredoc with interpolations or directives.
    Template(Vec<TemplatePart>),
    /// A tuple, as in `[a, b]`.
    Tuple(Vec<Expr>),
    /// `{ a = b }`
    Object(Vec<ObjectItem>),
    /// An expression in parentheses, as in `(a)`.
    Paren(Box<Expr>),
    /// The name of a variable.
    Variable(String),
    /// Steps from an expression, as in `base.name[0].*`.
    Traversal(Box<Expr>, Vec<Step>),
    /// `name(a, b...)`; the name may hold `::`
    Call(Box<Call>),
    /// `if ? then : otherwise`
    Conditional(Box<Conditional>),
    /// A unary operation, as in `!a` and `-a`.
    Unary(UnaryOp, Box<Expr>),
    /// A binary operation, as in `a + b`.
    Binary(BinaryOp, Box<(Expr, Expr)>),
    /// `[for …]`, `{for …}`
    For(Box<For>),
}

/// One item of an object constructor.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectItem {
    /// The key, a name or an expression.
    pub key: ObjectKey,
    /// The expression behind the key.
    pub value: Expr,
}

/// The key of an object item.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectKey {
    /// An identifier, which means itself.
    Name(Word),
    /// Any other expression, quoted strings included.
    Expr(Expr),
}

/// One step of a traversal.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// An attribute, as in `.name`.
    Attr(Word),
    /// `[expr]`, and `.0` of old
    Index(Expr),
    /// The attribute splat, `.*`.
    AttrSplat,
    /// The full splat, `[*]`.
    FullSplat,
}

/// A call of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The name, as written.
    pub name: Word,
    /// The arguments in their order.
    pub args: Vec<Expr>,
    /// The last argument is followed by `...`.
    pub expand_final: bool,
}

/// `condition ? then : otherwise`
#[derive(Clone, Debug, PartialEq)]
pub struct Conditional {
    /// The condition before the question mark.
    pub condition: Expr,
    /// The value if it is true.
    pub then: Expr,
    /// The value if it is false.
    pub otherwise: Expr,
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// The logical operator `!`.
    Not,
    /// The arithmetic operator `-`.
    Negate,
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum BinaryOp {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// `[for k, v in c : value if cond]` or `{for k, v in c : key => value... if cond}`
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The first of two names.
    pub key_name: Option<String>,
    /// The only or second name.
    pub value_name: String,
    /// The collection whose elements are visited.
    pub collection: Expr,
    /// The key; its presence makes the result an object.
    pub key: Option<Expr>,
    /// The expression of each value.
    pub value: Expr,
    /// Values of one key are gathered in a list.
    pub grouping: bool,
    /// The condition that selects elements.
    pub condition: Option<Expr>,
}

/// One part of a template; strip markers and heredoc indentation are already applied.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplatePart {
    /// Literal text between sequences, decoded.
    Literal(String),
    /// An interpolation, as in `${name}`.
    Interpolation(Expr),
    /// `%{ if … }…%{ else }…%{ endif }`
    If(Box<TemplateIf>),
    /// `%{ for … }…%{ endfor }`
    For(Box<TemplateFor>),
}

/// A conditional in a template.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateIf {
    /// The condition of the directive.
    pub condition: Expr,
    /// The text if it is true.
    pub then: Vec<TemplatePart>,
    /// The text if it is false.
    pub otherwise: Vec<TemplatePart>,
}

/// A loop in a template.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateFor {
    /// The first of two names.
    pub key_name: Option<String>,
    /// The only or second name.
    pub value_name: String,
    /// The collection whose elements are visited.
    pub collection: Expr,
    /// The text of each turn.
    pub body: Vec<TemplatePart>,
}

impl Expr {
    /// Returns the unquoted word that this is; the programs take keywords for names where they look for one.
    #[must_use]
    pub fn unquoted_word(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Variable(name) => Some(name),
            ExprKind::Null => Some("null"),
            ExprKind::Bool(true) => Some("true"),
            ExprKind::Bool(false) => Some("false"),
            _ => None,
        }
    }

    /// Lists the expressions that this one is directly made of, unless steps, a template or a `for` are around them.
    #[must_use]
    pub fn operands(&self) -> Vec<&Self> {
        match &self.kind {
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Number(_)
            | ExprKind::String(_)
            | ExprKind::Variable(_)
            | ExprKind::Template(_)
            | ExprKind::Traversal(..)
            | ExprKind::For(_) => Vec::new(),
            ExprKind::Tuple(items) => items.iter().collect(),
            ExprKind::Object(items) => {
                let mut operands = Vec::with_capacity(2 * items.len());
                for item in items {
                    // A bare word as a key is a text, and refers to nothing.
                    if let ObjectKey::Expr(key) = &item.key {
                        operands.push(key);
                    }
                    operands.push(&item.value);
                }
                operands
            }
            ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => vec![inner],
            ExprKind::Call(call) => call.args.iter().collect(),
            ExprKind::Conditional(parts) => vec![&parts.condition, &parts.then, &parts.otherwise],
            ExprKind::Binary(_, operands) => vec![&operands.0, &operands.1],
        }
    }
}

impl Body {
    /// Walks over the arguments, in source order.
    pub fn attributes(&self) -> impl Iterator<Item = &Attribute> {
        self.items.iter().filter_map(|item| match item {
            Item::Attribute(attribute) => Some(attribute),
            Item::Block(_) => None,
        })
    }

    /// Walks over the blocks, in source order.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.items.iter().filter_map(|item| match item {
            Item::Attribute(_) => None,
            Item::Block(block) => Some(block),
        })
    }

    /// Finds the first argument of a name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes()
            .find(|attribute| attribute.name.text == name)
    }
}
