//! Numbers: exact decimals that represent the programs' binary floats of 512 bits.
//!
//! A decimal of up to 38 digits and its rounding to 512 bits determine each other, so order,
//! equality and text follow from the decimal. Arithmetic is certain only if the operands are
//! no roundings themselves: then the result is the exact one, rounded once, which is what a
//! literal is as well (rules 3.1). A zero with a sign is a number of its own to the programs, and none
//! here (rules 3.3).

use std::cmp::Ordering;

/// Maximum number of zeros behind or in front of the digits of a number.
const MAX_EXPONENT: u32 = 1000;

/// A number: 38 decimal digits, and up to 1000 zeros on either side of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    // Invariant: not divisible by ten unless zero, whose exponent is zero.
    digits: i128,
    exponent: i32,
}

impl Number {
    /// Reads a number as it is written in native syntax, with an optional sign.
    ///
    /// Returns `None` for any other text and for numbers that cannot be held exactly.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = [whole, fraction].concat();
        let is_number = !whole.is_empty() && all.bytes().all(|b| b.is_ascii_digit());
        if !is_number {
            return None;
        }
        let significant = all.trim_end_matches('0');
        // Zeros at the end go to the exponent, so that equal numbers have one form.
        let zeros = i32::try_from(all.len() - significant.len()).ok()?;
        let places = i32::try_from(fraction.len()).ok()?;
        let digits: i128 = match significant {
            "" => 0,
            some => some.parse().ok()?,
        };
        let sign = if unsigned.len() < text.len() { -1 } else { 1 };
        // A zero with a sign is another number to the programs (rules 3.3).
        if digits == 0 && sign < 0 {
            return None;
        }
        Self::new(
            sign * digits,
            exponent.checked_add(zeros)?.checked_sub(places)?,
        )
    }

    fn new(mut digits: i128, mut exponent: i32) -> Option<Self> {
        if digits == 0 {
            return Some(Self {
                digits,
                exponent: 0,
            });
        }
        while digits % 10 == 0 {
            digits /= 10;
            exponent += 1;
        }
        (exponent.unsigned_abs() <= MAX_EXPONENT).then_some(Self { digits, exponent })
    }

    /// Returns the number as a count, if it is one.
    #[must_use]
    pub fn to_index(self) -> Option<usize> {
        let power = u32::try_from(self.exponent).ok()?;
        let whole = self.digits.checked_mul(10_i128.checked_pow(power)?)?;
        usize::try_from(whole).ok()
    }

    /// Returns whether a binary float of 512 bits holds it without rounding. The largest exponent
    /// that is answered with yes keeps numbers below 2^512.
    fn is_exact(self) -> bool {
        // A decimal with p places ends in binary as well if its digits are divisible by 5^p: n / 10^p is then
        // (n / 5^p) / 2^p.
        match u32::try_from(-self.exponent) {
            Ok(places) => 5_i128
                .checked_pow(places)
                .is_some_and(|power| self.digits % power == 0),
            Err(_) => self.exponent < 100,
        }
    }

    /// Returns both digits at the smaller of both exponents.
    fn aligned(self, other: Self) -> Option<(i128, i128, i32)> {
        let exponent = self.exponent.min(other.exponent);
        let scale = |number: Self| {
            let power = u32::try_from(number.exponent.checked_sub(exponent)?).ok()?;
            number.digits.checked_mul(10_i128.checked_pow(power)?)
        };
        Some((scale(self)?, scale(other)?, exponent))
    }

    pub(super) fn negate(self) -> Option<Self> {
        // Zero would get a sign.
        let digits = self.digits.checked_neg().filter(|digits| *digits != 0)?;
        Self::new(digits, self.exponent)
    }

    /// Computes `self + other`; `None` if the result is not certain. So for all that follow.
    pub(super) fn add(self, other: Self) -> Option<Self> {
        let (a, b, exponent) = self.certain(other)?.aligned(other)?;
        Self::new(a.checked_add(b)?, exponent)
    }

    pub(super) fn subtract(self, other: Self) -> Option<Self> {
        let (a, b, exponent) = self.certain(other)?.aligned(other)?;
        Self::new(a.checked_sub(b)?, exponent)
    }

    pub(super) fn multiply(self, other: Self) -> Option<Self> {
        self.certain(other)?.no_signed_zero(other)?;
        Self::new(
            self.digits.checked_mul(other.digits)?,
            self.exponent + other.exponent,
        )
    }

    /// Divides as long as the quotient ends.
    pub(super) fn divide(self, other: Self) -> Option<Self> {
        self.no_signed_zero(other)?;
        let (mut a, b, _) = self.certain(other)?.aligned(other)?;
        let mut exponent = 0;
        // A quotient that does not end runs out of the 38 digits, and then is not certain.
        while a.checked_rem(b)? != 0 {
            a = a.checked_mul(10)?;
            exponent -= 1;
        }
        Self::new(a.checked_div(b)?, exponent)
    }

    /// Computes the remainder, which has the sign of the dividend.
    pub(super) fn modulo(self, other: Self) -> Option<Self> {
        let (a, b, exponent) = self.certain(other)?.aligned(other)?;
        Self::new(a.checked_rem(b)?, exponent)
    }

    /// Stops where a product or a quotient would be a zero with a sign.
    fn no_signed_zero(self, other: Self) -> Option<()> {
        let has_zero = self.digits == 0 || other.digits == 0;
        (!has_zero || (self.digits >= 0 && other.digits >= 0)).then_some(())
    }

    fn certain(self, other: Self) -> Option<Self> {
        (self.is_exact() && other.is_exact()).then_some(self)
    }

    pub(super) fn is_zero(self) -> bool {
        self.digits == 0
    }
}

impl From<u32> for Number {
    fn from(whole: u32) -> Self {
        Self::new(whole.into(), 0).expect("32 bits have few zeros at the end")
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_sign = self.digits.signum().cmp(&other.digits.signum());
        let magnitude = |number: &Self| {
            let digits = number.digits.unsigned_abs().to_string();
            let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
            // Without trailing zeros, text order is the order of the digits.
            (length + i64::from(number.exponent), digits)
        };
        by_sign.then_with(|| match self.digits.signum() {
            1 => magnitude(self).cmp(&magnitude(other)),
            -1 => magnitude(other).cmp(&magnitude(self)),
            _ => Ordering::Equal,
        })
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Prints the number as the programs do: without exponent and without needless zeros.
impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.digits < 0 { "-" } else { "" };
        let digits = self.digits.unsigned_abs().to_string();
        let Ok(places) = usize::try_from(-self.exponent) else {
            let zeros = usize::try_from(self.exponent).unwrap_or_default();
            return write!(f, "{sign}{digits}{}", "0".repeat(zeros));
        };
        match digits.len().checked_sub(places) {
            _ if places == 0 => write!(f, "{sign}{digits}"),
            Some(whole) if whole > 0 => {
                write!(f, "{sign}{}.{}", &digits[..whole], &digits[whole..])
            }
            _ => write!(f, "{sign}0.{digits:0>places$}"),
        }
    }
}
