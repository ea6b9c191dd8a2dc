//! From bytes to packets, with the programs' distinction of what one passes over.

use pgp::errors::Error;
use pgp::packet::{Packet, PacketParser};

/// A packet that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The programs skip packets of this type or version.
    Unsupported,
    /// Its content is wrong; where the next begins is known.
    Broken,
    /// The packet ends early, or does not even begin as one; nothing can follow.
    Damaged,
}

/// Reads packets until something is damaged.
pub(super) fn packets(bytes: &[u8]) -> impl Iterator<Item = Result<Packet, Trouble>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // A parser takes the fragment of a header for the end of all packets, hence one for each.
        let next = PacketParser::new(&mut rest).next();
        let packet = match next {
            Some(packet) => packet.map_err(|error| trouble(&error)),
            None => Err(Trouble::Damaged),
        };
        if packet == Err(Trouble::Damaged) {
            rest = &[];
        }
        Some(packet)
    })
}

fn trouble(error: &Error) -> Trouble {
    match error {
        Error::Unsupported { .. } => Trouble::Unsupported,
        Error::InvalidPacketContent { source } => match trouble(source) {
            Trouble::Unsupported => Trouble::Unsupported,
            Trouble::Broken | Trouble::Damaged => Trouble::Broken,
        },
        Error::PacketIncomplete { .. } | Error::IO { .. } => Trouble::Damaged,
        _ => Trouble::Broken,
    }
}
