//! What tests of the scripts use everywhere.

pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::time::Duration;

pub(crate) use futures::future::join_all;
pub(crate) use redis::AsyncCommands;
pub(crate) use sale::*;
pub(crate) use stock::{
    Admit, AdmitRequest, Applicant, ChallengeRequest, Challenged, DonateFor, Donated, GcraLimit, Refused, Reseated,
    Reserve, RoundLoad, SoldOut, Stock,
};
pub(crate) use tests::{TestRound, first_version, fresh_id, held, terms, unsold, user};
pub(crate) use uuid::Uuid;
