//! A Valkey cluster: three shards with a replica each, on the loopback.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo, Value};
use uuid::Uuid;

use crate::process::Port;
use crate::valkey::{self, Valkey};

const SHARDS: usize = 3;
const SLOTS: usize = 16_384;
/// After this much silence the other nodes look for a successor, which takes them about another second.
const NODE_TIMEOUT_MS: u32 = 1500;
/// The longest wait for an answer to the cluster's operator, on a busy machine.
const OPERATOR_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest wait for a change of the cluster. Longer than anything takes on a busy machine.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(50);
/// The rights of the functions' user: the same as in `infra/cdk`.
const RIGHTS: &str = "~* -@all +@read +@write +@scripting +@connection +time +cluster|slots -@dangerous";

/// Six Valkey servers that form a cluster and end with this process. They write nothing to disk.
pub struct ValkeyCluster {
    nodes: Vec<Node>,
    password: String,
}

struct Node {
    valkey: Valkey,
    bus: Port,
    announced: u16,
}

impl ValkeyCluster {
    pub const USER: &str = "shop";

    /// Starts and joins the servers. Each announces to all others the port that `announce` returns for its own.
    pub async fn start(mut announce: impl FnMut(u16) -> Result<u16>) -> Result<Self> {
        let password = Uuid::new_v4().simple().to_string();
        let nodes = (0..SHARDS * 2).map(|_| Node::start(&mut announce, &password)).collect::<Result<_>>()?;
        let cluster = Self { nodes, password };
        cluster.join().await?;
        Ok(cluster)
    }

    pub fn password(&self) -> &str {
        &self.password
    }

    pub fn announced(&self) -> Vec<u16> {
        self.nodes.iter().map(|node| node.announced).collect()
    }

    pub async fn owner(&self, slot: u16) -> Result<usize> {
        for index in self.running() {
            let Ok((_, Some(slots))) = self.itself(index).await else { continue };
            if slots.iter().any(|slots| slots.contains(&slot)) {
                return Ok(index);
            }
        }
        bail!("nobody has slot {slot}")
    }

    pub async fn slot_of(&self, key: &str) -> Result<u16> {
        let first = self.running().next().context("a running node")?;
        self.connection(first).await?.send(&["CLUSTER", "KEYSLOT", key]).await
    }

    pub fn node(&mut self, index: usize) -> &mut Valkey {
        &mut self.nodes[index].valkey
    }

    pub async fn successor(&self, slot: u16, old: usize) -> Result<usize> {
        until("another node has the slot", async || self.owner(slot).await.ok().filter(|index| *index != old)).await
    }

    /// Moves a slot to another shard in the steps of resharding. `between` runs before the keys move, and again when
    /// they have moved but only the two nodes know.
    pub async fn move_slot(&self, slot: u16, between: impl AsyncFn()) -> Result<()> {
        let (from, to) = (self.owner(slot).await?, self.another_master(slot).await?);
        let ((from_id, _), (to_id, _)) = (self.itself(from).await?, self.itself(to).await?);
        let (mut source, mut target) = (self.connection(from).await?, self.connection(to).await?);
        let number = slot.to_string();
        target.send::<Value>(&["CLUSTER", "SETSLOT", &number, "IMPORTING", &from_id]).await?;
        source.send::<Value>(&["CLUSTER", "SETSLOT", &number, "MIGRATING", &to_id]).await?;
        between().await;
        let port = self.nodes[to].valkey.port().to_string();
        loop {
            let keys: Vec<String> = source.send(&["CLUSTER", "GETKEYSINSLOT", &number, "100"]).await?;
            if keys.is_empty() {
                break;
            }
            let mut migrate = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "5000", "AUTH", &self.password, "KEYS"];
            migrate.extend(keys.iter().map(String::as_str));
            source.send::<Value>(&migrate).await?;
        }
        between().await;
        // The target first: if the source died in between, nobody would have the slot.
        target.send::<Value>(&["CLUSTER", "SETSLOT", &number, "NODE", &to_id]).await?;
        source.send::<Value>(&["CLUSTER", "SETSLOT", &number, "NODE", &to_id]).await?;
        self.successor(slot, from).await.map(drop)
    }

    /// Moves a slot to another shard at once, as Valkey 9 can, and waits until it has moved.
    pub async fn move_slot_at_once(&self, slot: u16) -> Result<()> {
        let (from, to) = (self.owner(slot).await?, self.another_master(slot).await?);
        let ((to_id, _), number) = (self.itself(to).await?, slot.to_string());
        let migrate = ["CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", &number, &number, "NODE", &to_id];
        self.connection(from).await?.send::<Value>(&migrate).await?;
        self.successor(slot, from).await.map(drop)
    }

    async fn another_master(&self, slot: u16) -> Result<usize> {
        let from = self.owner(slot).await?;
        for index in self.running() {
            if index != from && self.itself(index).await?.1.is_some() {
                return Ok(index);
            }
        }
        bail!("there is one master only")
    }

    async fn join(&self) -> Result<()> {
        let (masters, replicas) = self.nodes.split_at(SHARDS);
        let mut first = self.connection(0).await?;
        for (index, node) in self.nodes.iter().enumerate() {
            let mut connection = self.connection(index).await?;
            connection.send::<Value>(&["CLUSTER", "SET-CONFIG-EPOCH", &(index + 1).to_string()]).await?;
            if index < masters.len() {
                let [begin, end] = [index, index + 1].map(|shard| SLOTS * shard / SHARDS);
                let range = [begin.to_string(), (end - 1).to_string()];
                connection.send::<Value>(&["CLUSTER", "ADDSLOTSRANGE", &range[0], &range[1]]).await?;
            }
            let ports = [node.announced.to_string(), node.bus.number().to_string()];
            first.send::<Value>(&["CLUSTER", "MEET", "127.0.0.1", &ports[0], &ports[1]]).await?;
        }
        for index in self.running() {
            until("all know each other", async || self.all_known(index).await.ok().filter(|known| *known)).await?;
        }
        for index in 0..replicas.len() {
            let (master, _) = self.itself(index).await?;
            let mut replica = self.connection(SHARDS + index).await?;
            replica.send::<Value>(&["CLUSTER", "REPLICATE", &master]).await?;
        }
        for index in self.running() {
            until("the cluster is complete", async || self.is_complete(index).await.ok().filter(|is| *is)).await?;
        }
        Ok(())
    }

    async fn all_known(&self, index: usize) -> Result<bool> {
        let nodes: String = self.connection(index).await?.send(&["CLUSTER", "NODES"]).await?;
        Ok(nodes.lines().count() == self.nodes.len() && !nodes.contains("handshake"))
    }

    /// Whether every slot has a master with an up-to-date replica, according to this node.
    async fn is_complete(&self, index: usize) -> Result<bool> {
        let mut connection = self.connection(index).await?;
        let info: String = connection.send(&["CLUSTER", "INFO"]).await?;
        let nodes: String = connection.send(&["CLUSTER", "NODES"]).await?;
        let replication: String = connection.send(&["INFO", "replication"]).await?;
        let in_step = replication.contains("master_link_status:up") || replication.contains("state=online");
        let replicas = nodes.lines().filter(|line| line.contains("slave")).count();
        Ok(info.contains("cluster_state:ok") && replicas == SHARDS && in_step)
    }

    fn running(&self) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).filter(|index| self.nodes[*index].valkey.is_running())
    }

    /// A node's id and, of a master, its slots.
    async fn itself(&self, index: usize) -> Result<(String, Option<Vec<RangeInclusive<u16>>>)> {
        let nodes: String = self.connection(index).await?.send(&["CLUSTER", "NODES"]).await?;
        let line = nodes.lines().find(|line| line.contains("myself")).context("it knows itself")?;
        let words: Vec<&str> = line.split(' ').collect();
        ensure!(words.len() >= 8, "{line:?}");
        // A moving slot is listed in brackets, besides the range.
        let slots = words[8..].iter().filter(|word| !word.starts_with('['));
        let slots = slots.map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Ok(first.parse()?..=last.parse()?)
        });
        let slots: Vec<_> = slots.collect::<Result<_>>()?;
        Ok((words[0].to_owned(), words[2].contains("master").then_some(slots)))
    }

    /// An operator's connection to one node.
    async fn connection(&self, index: usize) -> Result<Operator> {
        let address = ConnectionAddr::Tcp("127.0.0.1".to_owned(), self.nodes[index].valkey.port());
        let settings = RedisConnectionInfo::default().set_password(&self.password);
        let client = Client::open(address.into_connection_info()?.set_redis_settings(settings))?;
        let patient = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(OPERATOR_TIMEOUT))
            .set_response_timeout(Some(OPERATOR_TIMEOUT));
        Ok(Operator(client.get_multiplexed_async_connection_with_config(&patient).await?))
    }
}

struct Operator(MultiplexedConnection);

impl Operator {
    async fn send<T: redis::FromRedisValue>(&mut self, words: &[&str]) -> Result<T> {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        command.query_async(&mut self.0).await.with_context(|| words[..words.len().min(3)].join(" "))
    }
}

impl Node {
    fn start(announce: &mut impl FnMut(u16) -> Result<u16>, password: &str) -> Result<Self> {
        let (port, bus) = (Port::free()?, Port::free()?);
        let announced = announce(port.number())?;
        let mut command = valkey::command(port.number())?;
        let settings = [
            ("--cluster-enabled", "yes".to_owned()),
            ("--cluster-node-timeout", NODE_TIMEOUT_MS.to_string()),
            // As on ElastiCache: the other shards continue without one.
            ("--cluster-require-full-coverage", "no".to_owned()),
            ("--cluster-port", bus.number().to_string()),
            ("--cluster-announce-ip", "127.0.0.1".to_owned()),
            ("--cluster-announce-port", announced.to_string()),
            ("--cluster-announce-bus-port", bus.number().to_string()),
            ("--repl-diskless-sync-delay", "0".to_owned()),
            // Does not wait for replicas, which end too.
            ("--shutdown-timeout", "0".to_owned()),
            ("--requirepass", password.to_owned()),
            ("--primaryauth", password.to_owned()),
        ];
        for (name, value) in settings {
            command.args([name, &value]);
        }
        command.args(["--user", ValkeyCluster::USER, "on", &format!(">{password}")]).args(RIGHTS.split(' '));
        Ok(Self { valkey: Valkey::start_as(port, command)?, bus, announced })
    }
}

async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> Result<T> {
    let deadline = Instant::now() + CHANGE_TIMEOUT;
    loop {
        if let Some(found) = look().await {
            return Ok(found);
        }
        ensure!(Instant::now() < deadline, "not within {} s: {what}", CHANGE_TIMEOUT.as_secs());
        tokio::time::sleep(POLL).await;
    }
}
