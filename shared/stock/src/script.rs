use std::sync::LazyLock;

use redis::{Cmd, ErrorKind, ServerErrorKind, ToRedisArgs};

use crate::connection::RedisConnection;
use crate::script_code::{parse, unexpected};
use crate::{ScriptCode, StockError};

/// A script of [`crate::expanded`], run by its digest. A Redis that has forgotten it gets its text in the same call
/// that runs it: if it were loaded by a separate call, it could be forgotten again in between.
pub(crate) struct Script {
    text: &'static str,
    digest: String,
}

macro_rules! scripts {
    ($($name:ident)*) => {
        $(
            pub(crate) static $name: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::$name));
        )*
    };
}

scripts! {
    ACCEPT ADMIT ADOPT AMEND AVAILABILITY BLOCK BUYERS CLOSE_TRANSFER COMPLETE CONFIRM DONATE DUE EXCLUDE FENCE LEASE
    LINE LOAD RELEASE RESEAT RESERVE RESTORE TAKE_IN TALLY TICKET
}

pub(crate) struct Invocation<'a> {
    script: &'a Script,
    keys: Vec<String>,
    args: Vec<Vec<u8>>,
}

impl Script {
    fn new(text: &'static str) -> Self {
        Self { text, digest: redis::Script::new(text).get_hash().to_owned() }
    }

    pub(crate) fn keys<const N: usize>(&self, keys: [String; N]) -> Invocation<'_> {
        Invocation { script: self, keys: keys.into(), args: Vec::new() }
    }
}

impl Invocation<'_> {
    pub(crate) fn key(mut self, key: String) -> Self {
        self.keys.push(key);
        self
    }

    pub(crate) fn arg(mut self, arg: impl ToRedisArgs) -> Self {
        arg.write_redis_args(&mut self.args);
        self
    }

    /// The code of its answer, which must be one of these.
    pub(crate) async fn one_of(
        self,
        connection: &RedisConnection,
        codes: &[ScriptCode],
    ) -> Result<ScriptCode, StockError> {
        let answer = self.invoke_async(connection).await?;
        let (code, _) = parse(&answer)?;
        if codes.contains(&code) { Ok(code) } else { Err(unexpected(&answer)) }
    }

    pub(crate) async fn invoke_async(self, connection: &RedisConnection) -> Result<String, StockError> {
        match self.run("EVALSHA", &self.script.digest, connection).await {
            Err(StockError::Redis(error)) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                self.run("EVAL", self.script.text, connection).await
            }
            answer => answer,
        }
    }

    async fn run(&self, command: &str, script: &str, connection: &RedisConnection) -> Result<String, StockError> {
        let Self { keys, args, .. } = self;
        let bytes = keys.iter().map(String::len).chain(args.iter().map(Vec::len)).sum::<usize>();
        let mut call = Cmd::with_capacity(3 + keys.len() + args.len(), command.len() + script.len() + 2 + bytes);
        call.arg(command).arg(script).arg(keys.len()).arg(keys).arg(args);
        connection.ask(&call).await
    }
}
