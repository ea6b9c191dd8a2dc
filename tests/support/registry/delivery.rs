//! How an answer travels: at once, late, slowly, or only in part.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use super::knobs::Fault;
use super::log::InFlight;

/// Bytes per second, unless a rule says otherwise.
const RATE: u64 = 1_000;
/// How many pieces a slow body is sent in per second.
const PIECES: u64 = 100;
/// The largest piece.
const PIECE: usize = 16 << 10;

/// How a connection ends that ends too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With an RST.
    Reset,
    /// With a FIN.
    Close,
}

/// How an answer travels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delivery {
    /// Ends the connection in place of an answer.
    pub(crate) instead: Option<Ending>,
    /// Waits before the answer.
    pub(crate) wait: Option<Duration>,
    /// Bytes per second of the body.
    pub(crate) rate: Option<u64>,
    /// Bytes per second of everything, the header included.
    pub(crate) trickle: Option<u64>,
    /// Ends the connection after so many bytes of the body.
    pub(crate) cut: Option<(usize, Ending)>,
    /// States this length in place of the real one.
    pub(crate) length: Option<u64>,
}

impl Delivery {
    /// How a fault lets a body of this size travel.
    pub(crate) fn of(fault: &Fault, size: usize) -> Self {
        let mut delivery = Self::default();
        let half = || (fault.number("after_bytes", size as u64 / 2) as usize).min(size);
        match fault.action.as_str() {
            "reset" => delivery.instead = Some(Ending::Reset),
            "close" => delivery.instead = Some(Ending::Close),
            "reset_mid" => delivery.cut = Some((half(), Ending::Reset)),
            "truncate" => delivery.cut = Some((half(), Ending::Close)),
            "slow" => delivery.rate = Some(fault.number("rate", RATE).max(1)),
            "slowloris" => delivery.trickle = Some(fault.number("rate", RATE).max(1)),
            // A body that is longer than stated reaches the client up to that length.
            "length" => {
                let length = fault.number("bytes", size as u64);
                delivery.length = Some(length);
                let sent = usize::try_from(length).map_or(size, |length| length.min(size));
                delivery.cut = Some((sent, Ending::Close));
            }
            "stall" => delivery.wait = Some(Duration::from_secs_f64(fault.seconds())),
            _ => {}
        }
        if size == 0 {
            delivery.without_body();
        }
        delivery
    }

    /// Leaves out what would happen to the body.
    pub(crate) fn without_body(&mut self) {
        (self.rate, self.trickle, self.cut) = (None, None, None);
    }
}

/// What becomes of a connection; shared by the connection and the answers on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fate(Arc<Mutex<FateState>>);

#[derive(Debug, Default)]
struct FateState {
    ending: Option<Ending>,
    trickle: Option<u64>,
    waker: Option<Waker>,
}

impl Fate {
    /// Ends the connection as soon as what was sent so far is on its way.
    pub(crate) fn end(&self, ending: Ending) {
        let mut state = self.lock();
        state.ending = Some(ending);
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    pub(crate) fn ending(&self) -> Option<Ending> {
        self.lock().ending
    }

    /// Waits for the end that somebody wants.
    pub(crate) fn poll_end(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.ending.is_some() {
            return Poll::Ready(());
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    pub(crate) fn set_trickle(&self, rate: Option<u64>) {
        self.lock().trickle = rate;
    }

    pub(crate) fn trickle(&self) -> Option<u64> {
        self.lock().trickle
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, FateState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A body that travels as its delivery says.
pub(crate) struct Parcel {
    rest: Bytes,
    /// How much of the rest is sent; the connection ends behind it if that is not all.
    cut: Option<(usize, Ending)>,
    rate: Option<u64>,
    pause: Option<Pin<Box<Sleep>>>,
    fate: Fate,
    _in_flight: InFlight,
}

impl Parcel {
    pub(crate) fn new(body: Bytes, delivery: &Delivery, fate: Fate, in_flight: InFlight) -> Self {
        Self {
            rest: body,
            cut: delivery.cut,
            rate: delivery.rate,
            pause: None,
            fate,
            _in_flight: in_flight,
        }
    }

    /// Cuts the next piece off the rest; empty at the end.
    fn next_piece(&mut self) -> Bytes {
        let per_piece = self.rate.map_or(u64::MAX, |rate| (rate / PIECES).max(1));
        let open = self.cut.map_or(usize::MAX, |(left, _)| left);
        let size = usize::try_from(per_piece).unwrap_or(usize::MAX);
        let size = size.min(PIECE).min(open).min(self.rest.len());
        if let Some((left, _)) = &mut self.cut {
            *left -= size;
        }
        self.rest.split_to(size)
    }
}

impl Body for Parcel {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Some(pause) = &mut self.pause {
            if pause.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.pause = None;
        }
        let piece = self.next_piece();
        if !piece.is_empty() {
            if let Some(rate) = self.rate {
                let time = Duration::from_secs_f64(piece.len() as f64 / rate as f64);
                self.pause = Some(Box::pin(sleep(time)));
            }
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        match self.cut {
            // Whoever polls sends the pieces first; only then is the connection's end seen.
            Some((_, ending)) => {
                self.fate.end(ending);
                Poll::Pending
            }
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.cut.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match self.cut {
            Some(_) => SizeHint::default(),
            None => SizeHint::with_exact(self.rest.len() as u64),
        }
    }
}
