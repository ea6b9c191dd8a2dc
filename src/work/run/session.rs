//! A run of a command: its options, the outside, and all that is read once and lent to everyone.

use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use crate::cliconfig::Netrc;
use crate::flavor::Flavor;
use crate::parallel::Memo;
use crate::run::World;
use crate::run::facts::UserFacts;
use crate::run::options::Options;
use crate::run::user::caches;
use crate::run::user::config::UserConfig;
use crate::sources::net::{Event, Net, PackageCredentials};
use crate::sources::outages::Outages;
use crate::sources::retry::RetryPolicy;
use crate::store::answers::AnswerCache;
use crate::world::{Clock, Disk};

/// A callback that is informed of each network event.
pub(crate) type NetworkObserver<'a> = &'a (dyn Fn(&Event<'_>) + Sync);

/// The options of a run, the outside, and the configuration of the user's machine by flavor; each flavor is read when
/// it is first needed.
///
/// Packages, modules and checks share it, so that each file is read once, each host is asked for its services
/// once, and a host that failed for one of them is not asked again by the others.
pub(crate) struct Session<'a> {
    pub(crate) options: &'a Options,
    pub(crate) world: World<'a>,
    /// The facts about packages that earlier runs kept.
    pub(crate) facts: UserFacts<'a>,
    /// The answers about modules and advisories that earlier runs kept, unless these are not to be used.
    cache: Option<AnswerCache<'a>>,
    observer: NetworkObserver<'a>,
    outages: Arc<Outages>,
    netrc: OnceLock<Arc<Netrc>>,
    read: Memo<Flavor, Arc<UserConfig<'a>>>,
}

impl<'a> Session<'a> {
    /// Begins a run: no file is read yet, and no host has failed.
    pub(crate) fn new(
        options: &'a Options,
        world: World<'a>,
        observer: NetworkObserver<'a>,
    ) -> Rc<Self> {
        Self::begin(options, world, world.clock, observer)
    }

    /// As [`new`](Self::new), with another clock for what earlier runs kept.
    fn begin(
        options: &'a Options,
        world: World<'a>,
        clock: &'a dyn Clock,
        observer: NetworkObserver<'a>,
    ) -> Rc<Self> {
        let dir = caches::directory(world.env).filter(|_| !options.no_cache);
        let kept = World { clock, ..world };
        Rc::new(Self {
            options,
            world,
            cache: dir.as_deref().map(|dir| caches::open_answers(kept, dir)),
            facts: UserFacts::new(dir, kept, options),
            observer,
            outages: Arc::default(),
            netrc: OnceLock::new(),
            read: Memo::default(),
        })
    }

    /// Begins another run with the same outside, and other options.
    pub(crate) fn with_options<'s>(&'s self, options: &'s Options) -> Rc<Session<'s>>
    where
        'a: 's,
    {
        Session::new(options, self.world, self.observer)
    }

    /// Begins another run that judges by another clock. What is kept ages by the real one: a fact that is younger than
    /// the clock says would not count.
    pub(crate) fn at<'s>(&'s self, clock: &'s dyn Clock) -> Rc<Session<'s>>
    where
        'a: 's,
    {
        let world = World {
            clock,
            ..self.world
        };
        Session::begin(self.options, world, self.world.clock, self.observer)
    }

    /// Begins another run with the same options, on another disk.
    pub(crate) fn with_disk<'s>(&'s self, disk: &'s dyn Disk) -> Rc<Session<'s>>
    where
        'a: 's,
    {
        let world = World { disk, ..self.world };
        Session::new(self.options, world, self.observer)
    }

    /// Returns the answers about modules and advisories that earlier runs kept, unless these are not to be used.
    pub(crate) fn cached_answers(&self) -> Option<&AnswerCache<'a>> {
        self.cache.as_ref()
    }

    /// Returns the configuration of a flavor; the first caller reads it.
    pub(crate) fn of(&self, flavor: Flavor) -> Arc<UserConfig<'a>> {
        self.read
            .get(&flavor, || Arc::new(UserConfig::read(self, flavor)))
    }

    /// Makes requests by the rules of a flavor, not by what the CLI configuration states.
    pub(crate) fn net(&self, flavor: Flavor) -> Net<'a> {
        Net {
            http: self.world.http,
            clock: self.world.clock,
            policy: RetryPolicy::of(self.world.env, flavor),
            package_credentials: if flavor.reads_netrc() {
                self.netrc_credentials()
            } else {
                Arc::new(|_| None)
            },
            observer: self.observer,
            outages: Arc::clone(&self.outages),
        }
    }

    /// Returns the credentials of `~/.netrc`.
    ///
    /// They are sent over encrypted connections only, and not beside a password in the URL.
    pub(crate) fn netrc_credentials(&self) -> PackageCredentials<'a> {
        let World { disk, env, .. } = self.world;
        // It is the same file for every flavor (`cliconfig` rules 4.5).
        let netrc = self.netrc.get_or_init(|| Arc::new(Netrc::read(disk, env)));
        let netrc = Arc::clone(netrc);
        Arc::new(move |url| {
            if url.origin().encrypted && !url.has_user() {
                netrc.find(&url.host_and_port())
            } else {
                None
            }
        })
    }
}
