//! Functions of IP networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::arguments::{CallArguments, CallFault, CallResult, text_list};
use crate::expr::convert::to_number;
use crate::expr::typed::Typed;

/// Maximum number of bits that `cidrsubnets` adds to a prefix: the limit of the programs.
const MAX_NEW_BITS: i128 = 32;

pub(super) fn cidrhost(args: &CallArguments<'_>) -> CallResult {
    let number = integer(args, 1)?;
    let network = CidrBlock::parse(args.text(0))?;
    Ok(Typed::string(network.host(number)?.to_string()))
}

pub(super) fn cidrnetmask(args: &CallArguments<'_>) -> CallResult {
    let network = CidrBlock::parse(args.text(0))?;
    match network.family {
        Family::V4 => {
            let mask = u128::from(u32::MAX) & !network.greatest_host();
            Ok(Typed::string(network.family.address(mask).to_string()))
        }
        Family::V6 => Err(CallFault::call("IPv6 addresses cannot have a netmask")),
    }
}

pub(super) fn cidrsubnet(args: &CallArguments<'_>) -> CallResult {
    let (bits, number) = (integer(args, 1)?, integer(args, 2)?);
    let network = CidrBlock::parse(args.text(0))?;
    Ok(Typed::string(network.subnet(bits, number)?.to_string()))
}

/// Returns an argument that must be a whole number.
fn integer(args: &CallArguments<'_>, at: usize) -> CallResult<i128> {
    let number = args.values.get(at).map(|arg| to_number(&arg.value));
    let Some(Ok(number)) = number else {
        return Err(CallFault::Uncertain("this may be a number"));
    };
    let shown = number.to_string();
    match shown.parse::<i128>() {
        Ok(whole) if i64::try_from(whole).is_ok() => Ok(whole),
        _ if shown.contains('.') => Err(CallFault::call("a whole number is needed here")),
        _ => Err(CallFault::Uncertain("a number of more than 64 bits")),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    V4,
    V6,
}

impl Family {
    fn bits(self) -> u32 {
        match self {
            Self::V4 => 32,
            Self::V6 => 128,
        }
    }

    fn address(self, number: u128) -> IpAddr {
        match self {
            Self::V4 => Ipv4Addr::from_bits(u32::try_from(number).unwrap_or(u32::MAX)).into(),
            Self::V6 => Ipv6Addr::from_bits(number).into(),
        }
    }
}

/// Reads an address; `None` if it is none.
fn address(text: &str) -> CallResult<Option<(Family, u128)>> {
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => Ok(Some((Family::V4, address.to_bits().into()))),
        Ok(IpAddr::V6(address)) => match address.to_ipv4_mapped() {
            Some(_) => Err(CallFault::Uncertain(
                "an IPv4 address that is written as IPv6",
            )),
            None => Ok(Some((Family::V6, address.to_bits()))),
        },
        // The programs take zeros in front.
        Err(_) if text.contains('/') => Ok(None),
        Err(_) if text.contains('.') && text.split(['.', ':']).any(has_zeros_in_front) => {
            Err(CallFault::Uncertain("an address with zeros in front"))
        }
        Err(_) => Ok(None),
    }
}

fn has_zeros_in_front(digits: &str) -> bool {
    digits.len() > 1 && digits.starts_with('0')
}

/// A network in CIDR notation: the addresses that begin with the same bits.
#[derive(Clone, Copy)]
struct CidrBlock {
    family: Family,
    first: u128,
    /// The number of bits that all addresses have in common.
    prefix: u32,
}

impl CidrBlock {
    /// Reads a network, written as one of its addresses and the number of bits.
    fn parse(text: &str) -> CallResult<Self> {
        let invalid = || CallFault::call("invalid CIDR expression");
        let (before, bits) = text.split_once('/').ok_or_else(invalid)?;
        let (family, number) = address(before)?.ok_or_else(invalid)?;
        if bits.is_empty() || !bits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(invalid());
        }
        // Parsers of Go differ in zeros before a number.
        if has_zeros_in_front(bits) {
            return Err(CallFault::Uncertain("a prefix with zeros in front"));
        }
        let prefix = bits
            .parse::<u32>()
            .ok()
            .filter(|prefix| *prefix <= family.bits())
            .ok_or_else(invalid)?;
        let size = family.bits() - prefix;
        // A prefix of no bits shifts everything out, which the plain operators do not allow.
        let first = number
            .checked_shr(size)
            .and_then(|network| network.checked_shl(size))
            .unwrap_or(0);
        Ok(Self {
            family,
            first,
            prefix,
        })
    }

    fn last(self) -> u128 {
        self.first | self.greatest_host()
    }

    /// Returns the host part of the last address.
    fn greatest_host(self) -> u128 {
        match self.family.bits() - self.prefix {
            0 => 0,
            size => u128::MAX >> (128 - size),
        }
    }

    fn contains(self, address: u128) -> bool {
        (self.first..=self.last()).contains(&address)
    }

    /// Returns an address by its number; negative numbers count from the end.
    fn host(self, number: i128) -> CallResult<IpAddr> {
        let greatest = self.greatest_host();
        let from = match u128::try_from(number) {
            Ok(number) => Some(number),
            // The host -1 is the last address.
            Err(_) => greatest.checked_sub(number.unsigned_abs() - 1),
        };
        match from.filter(|host| *host <= greatest) {
            Some(host) => Ok(self.family.address(self.first | host)),
            None => Err(CallFault::call("the prefix has no host of this number")),
        }
    }

    /// Returns a subnet by its number among those with `new_bits` more bits of prefix.
    fn subnet(self, new_bits: i128, number: i128) -> CallResult<Self> {
        let (Ok(new_bits), Ok(number)) = (u32::try_from(new_bits), u128::try_from(number)) else {
            return Err(CallFault::Uncertain("a negative number"));
        };
        let room = self.family.bits() - self.prefix;
        let Some(rest) = room.checked_sub(new_bits) else {
            return Err(CallFault::call("the prefix has too little address space"));
        };
        // With 64 new bits or more any number of 64 bits fits.
        if new_bits < 64 && number >> new_bits != 0 {
            return Err(CallFault::call(
                "the prefix extension has no subnet of this number",
            ));
        }
        Ok(Self {
            first: self.first | number.checked_shl(rest).unwrap_or(0),
            prefix: self.prefix + new_bits,
            ..self
        })
    }
}

impl std::fmt::Display for CidrBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.family.address(self.first), self.prefix)
    }
}

/// Cuts subnets of different sizes from a network, one behind the other.
pub(super) fn cidrsubnets(args: &CallArguments<'_>) -> CallResult {
    let network = CidrBlock::parse(args.text(0)).map_err(|fault| at_argument(fault, 0))?;
    let (mut next, mut subnets) = (Some(network.first), Vec::new());
    for at in 1..args.values.len() {
        let wrong = |reason: &str| CallFault::Argument(at, reason.to_owned());
        let bits = integer(args, at).map_err(|fault| at_argument(fault, at))?;
        if !(1..=MAX_NEW_BITS).contains(&bits) {
            return Err(wrong("a prefix is extended by 1 to 32 bits"));
        }
        let prefix = network.prefix + u32::try_from(bits).unwrap_or(u32::MAX);
        if prefix > network.family.bits() {
            return Err(wrong("the prefix would be too long for an address"));
        }
        let size = 1_u128 << (network.family.bits() - prefix);
        // The programs search from the address before the network, where there is one.
        let first = next
            .filter(|_| network.first != 0)
            .and_then(|next| next.checked_next_multiple_of(size))
            .filter(|first| network.contains(*first));
        let Some(first) = first else {
            return Err(wrong("not enough address space is left"));
        };
        let subnet = CidrBlock {
            first,
            prefix,
            ..network
        };
        next = subnet.last().checked_add(1);
        subnets.push(subnet.to_string());
        args.allow(subnets.len())?;
    }
    Ok(text_list(subnets))
}

fn at_argument(fault: CallFault, at: usize) -> CallFault {
    match fault {
        CallFault::Call(reason) => CallFault::Argument(at, reason),
        other => other,
    }
}

/// Computes if an address, or a whole network, is in a network.
pub(super) fn cidrcontains(args: &CallArguments<'_>) -> CallResult {
    let network = CidrBlock::parse(args.text(0))?;
    let (family, first, last) = match address(args.text(1))? {
        Some((family, address)) => (family, address, address),
        None => {
            let inner = CidrBlock::parse(args.text(1))?;
            (inner.family, inner.first, inner.last())
        }
    };
    // An IPv4 address is never inside of an IPv6 network.
    if family != network.family {
        return Err(CallFault::call("these are addresses of different families"));
    }
    Ok(Typed::bool(
        network.contains(first) && network.contains(last),
    ))
}
