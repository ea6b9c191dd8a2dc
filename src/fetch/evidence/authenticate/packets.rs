//! Cuts bytes into packets, and distinguishes those that the programs skip from damaged ones.

use pgp::errors::Error;
use pgp::packet::{Packet, PacketParser};

/// A packet that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketFault {
    /// The programs skip packets of this type or version.
    Unsupported,
    /// Its content is wrong; where the next begins is known.
    Broken,
    /// The packet ends early, or does not even begin as one; nothing can follow.
    Damaged,
}

/// Reads packets until something is damaged.
pub(super) fn packets(bytes: &[u8]) -> impl Iterator<Item = Result<Packet, PacketFault>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // A parser takes the fragment of a header for the end of all packets, hence one for each.
        let next = PacketParser::new(&mut rest).next();
        let packet = match next {
            Some(packet) => packet.map_err(|error| packet_fault(&error)),
            None => Err(PacketFault::Damaged),
        };
        if packet == Err(PacketFault::Damaged) {
            rest = &[];
        }
        Some(packet)
    })
}

fn packet_fault(error: &Error) -> PacketFault {
    match error {
        Error::Unsupported { .. } => PacketFault::Unsupported,
        Error::InvalidPacketContent { source } => match packet_fault(source) {
            PacketFault::Unsupported => PacketFault::Unsupported,
            PacketFault::Broken | PacketFault::Damaged => PacketFault::Broken,
        },
        Error::PacketIncomplete { .. } | Error::IO { .. } => PacketFault::Damaged,
        _ => PacketFault::Broken,
    }
}
