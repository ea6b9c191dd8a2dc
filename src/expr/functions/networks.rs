//! Functions of IP networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Fault, Function, Gives, Limits, Needs, Takes, text};
use crate::expr::operators;
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::value::Value;

type Ran = Result<Typed, Fault>;

/// How many bits one of the further subnets may have more than the network.
const MAX_NEW_BITS: i128 = 32;

const fn of(
    name: &'static str,
    takes: &'static [Takes],
    gives: Gives,
    run: fn(&[Typed], &Limits<'_>) -> Ran,
) -> Function {
    Function {
        name,
        takes,
        rest: None,
        needs: Needs::Parts,
        gives,
        run,
    }
}

const NETWORK: &[Takes] = &[Takes::Text];

pub(super) const TABLE: &[Function] = &[
    of(
        "cidrcontains",
        &[Takes::Text, Takes::Text],
        Gives::Truth,
        contains,
    ),
    of(
        "cidrhost",
        &[Takes::Text, Takes::Number],
        Gives::Text,
        |args, _| {
            let number = integer(args, 1)?;
            let network = Network::parse(text(args, 0))?;
            Ok(Typed::string(network.host(number)?.to_string()))
        },
    ),
    of("cidrnetmask", NETWORK, Gives::Text, |args, _| {
        let network = Network::parse(text(args, 0))?;
        match network.family {
            Family::V4 => Ok(Typed::string(network.mask().to_string())),
            Family::V6 => Err(refused("IPv6 addresses cannot have a netmask")),
        }
    }),
    of(
        "cidrsubnet",
        &[Takes::Text, Takes::Number, Takes::Number],
        Gives::Text,
        |args, _| {
            let (bits, number) = (integer(args, 1)?, integer(args, 2)?);
            let network = Network::parse(text(args, 0))?;
            Ok(Typed::string(network.subnet(bits, number)?.to_string()))
        },
    ),
    Function {
        rest: Some(Takes::Number),
        ..of("cidrsubnets", NETWORK, Gives::Open, subnets)
    },
];

fn refused(reason: &str) -> Fault {
    Fault::Call(reason.to_owned())
}

/// Returns an argument that must be a whole number.
fn integer(args: &[Typed], at: usize) -> Result<i128, Fault> {
    let number = args.get(at).map(|arg| operators::to_number(&arg.value));
    let Some(Ok(number)) = number else {
        return Err(Fault::Uncertain("this may be a number"));
    };
    let shown = number.to_string();
    match shown.parse::<i128>() {
        Ok(whole) if i64::try_from(whole).is_ok() => Ok(whole),
        _ if shown.contains('.') => Err(refused("a whole number is needed here")),
        _ => Err(Fault::Uncertain("a number of more than 64 bits")),
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
fn address(text: &str) -> Result<Option<(Family, u128)>, Fault> {
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => Ok(Some((Family::V4, address.to_bits().into()))),
        Ok(IpAddr::V6(address)) => match address.to_ipv4_mapped() {
            Some(_) => Err(Fault::Uncertain("an IPv4 address that is written as IPv6")),
            None => Ok(Some((Family::V6, address.to_bits()))),
        },
        // The programs take zeros in front.
        Err(_) if text.contains('/') => Ok(None),
        Err(_) if text.contains('.') && text.split(['.', ':']).any(has_zeros_in_front) => {
            Err(Fault::Uncertain("an address with zeros in front"))
        }
        Err(_) => Ok(None),
    }
}

fn has_zeros_in_front(digits: &str) -> bool {
    digits.len() > 1 && digits.starts_with('0')
}

/// The addresses that begin with the same bits.
#[derive(Clone, Copy)]
struct Network {
    family: Family,
    /// The first address.
    first: u128,
    /// How many bits all addresses have in common.
    prefix: u32,
}

impl Network {
    /// Reads a network, written as one of its addresses and the number of bits.
    fn parse(text: &str) -> Result<Self, Fault> {
        let invalid = || refused("invalid CIDR expression");
        let (before, bits) = text.split_once('/').ok_or_else(invalid)?;
        let (family, number) = address(before)?.ok_or_else(invalid)?;
        if bits.is_empty() || !bits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(invalid());
        }
        if has_zeros_in_front(bits) {
            return Err(Fault::Uncertain("a prefix with zeros in front"));
        }
        let prefix = bits.parse::<u32>().ok();
        let prefix = prefix.filter(|prefix| *prefix <= family.bits());
        let prefix = prefix.ok_or_else(invalid)?;
        let size = family.bits() - prefix;
        let first = number.checked_shr(size).unwrap_or(0);
        let first = first.checked_shl(size).unwrap_or(0);
        Ok(Self {
            family,
            first,
            prefix,
        })
    }

    /// Returns the last address.
    fn last(self) -> u128 {
        self.first | self.greatest_host()
    }

    /// Returns the bits of an address in which the network leaves a choice.
    fn greatest_host(self) -> u128 {
        let size = self.family.bits() - self.prefix;
        match size {
            0 => 0,
            size => u128::MAX >> (128 - size),
        }
    }

    fn mask(self) -> IpAddr {
        let all = u128::MAX >> (128 - self.family.bits());
        self.family.address(all & !self.greatest_host())
    }

    fn contains(self, address: u128) -> bool {
        (self.first..=self.last()).contains(&address)
    }

    /// Returns the address of a number; negative ones count from the end.
    fn host(self, number: i128) -> Result<IpAddr, Fault> {
        let greatest = self.greatest_host();
        let from = match u128::try_from(number) {
            Ok(number) => Some(number),
            Err(_) => greatest.checked_sub(number.unsigned_abs() - 1),
        };
        match from.filter(|host| *host <= greatest) {
            Some(host) => Ok(self.family.address(self.first | host)),
            None => Err(refused("the prefix has no host of this number")),
        }
    }

    /// Returns the subnet of a number among those that are as large as it.
    fn subnet(self, new_bits: i128, number: i128) -> Result<Self, Fault> {
        let (Ok(new_bits), Ok(number)) = (u32::try_from(new_bits), u128::try_from(number)) else {
            return Err(Fault::Uncertain("a negative number"));
        };
        let room = self.family.bits() - self.prefix;
        let Some(rest) = room.checked_sub(new_bits) else {
            return Err(refused("the prefix has too little address space"));
        };
        if new_bits < 64 && number >> new_bits != 0 {
            return Err(refused("the prefix extension has no subnet of this number"));
        }
        Ok(Self {
            first: self.first | number.checked_shl(rest).unwrap_or(0),
            prefix: self.prefix + new_bits,
            ..self
        })
    }
}

impl std::fmt::Display for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.family.address(self.first), self.prefix)
    }
}

/// Cuts subnets of different sizes from a network, one behind the other.
fn subnets(args: &[Typed], limits: &Limits<'_>) -> Ran {
    let network = Network::parse(text(args, 0)).map_err(|fault| at_argument(fault, 0))?;
    let (mut next, mut all) = (Some(network.first), Vec::new());
    for at in 1..args.len() {
        let wrong = |reason: &str| Fault::Argument(at, reason.to_owned());
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
        let first = next.filter(|_| network.first != 0);
        let first = first.and_then(|next| next.checked_next_multiple_of(size));
        let Some(first) = first.filter(|first| network.contains(*first)) else {
            return Err(wrong("not enough address space is left"));
        };
        let subnet = Network {
            first,
            prefix,
            ..network
        };
        next = subnet.last().checked_add(1);
        all.push(Value::string(subnet.to_string()));
        limits.allow(all.len())?;
    }
    Ok(Typed::list(Type::String, all))
}

fn at_argument(fault: Fault, at: usize) -> Fault {
    match fault {
        Fault::Call(reason) => Fault::Argument(at, reason),
        other => other,
    }
}

/// Returns whether an address, or a whole network, is in another network.
fn contains(args: &[Typed], _: &Limits<'_>) -> Ran {
    let network = Network::parse(text(args, 0))?;
    let (family, first, last) = match address(text(args, 1))? {
        Some((family, address)) => (family, address, address),
        None => {
            let inner = Network::parse(text(args, 1))?;
            (inner.family, inner.first, inner.last())
        }
    };
    if family != network.family {
        return Err(refused("these are addresses of different families"));
    }
    Ok(Typed::bool(
        network.contains(first) && network.contains(last),
    ))
}
