use aws_sdk_sqs::operation::receive_message::ReceiveMessageInput;
use tests::{Fault, Server};

use crate::answer::respond;
use crate::hooks::of_input;
use crate::prelude::*;

/// A function's world: everything that it talks to, behind proxies that can cut it off.
pub(super) struct World {
    context: Context,
    /// Records what clients ask the functions, and what they hear until the end.
    recorder: Recorder,
    fault: Arc<Fault>,
    _proxies: [Server; 2],
}

impl World {
    pub(super) async fn new(lab: &Lab, fault: &Arc<Fault>) -> Self {
        let deployment = &cloud().await.deployment;
        let valkey = SocketAddr::from(([127, 0, 0, 1], lab.valkey.port()));
        let [redis, aws] = fault.proxies(valkey, &deployment.endpoint, None);
        let config = deployment.aws_config().into_builder().endpoint_url(aws.url()).build();
        // Messages that a dead function had received come back after a second instead of a minute: the clock of SQS
        // cannot be moved.
        let short_timeout = of_input(|context| {
            if let Some(receive) = context.input_mut().downcast_mut::<ReceiveMessageInput>() {
                receive.visibility_timeout = Some(1);
            }
        });
        let sqs = aws_sdk_sqs::config::Builder::from(&config).interceptor(short_timeout);
        let context = Context::new(lab.settings(), config.clone(), Clock::system())
            .with(DynamoDb::new(&config))
            .with(Stock::new(&format!("redis://{}", redis.address())).unwrap())
            .with(Sqs::from_conf(sqs.build()))
            .with(lab.reservation().keys);
        let recorder = lab.recorder.clone();
        Self { context, recorder, fault: Arc::clone(fault), _proxies: [redis, aws] }
    }

    /// A function in a new process: `world.start(order::OrderDeps::new)`.
    pub(super) fn start<D>(&self, new: impl FnOnce(&Context) -> Result<D, ContextError>) -> D {
        new(&self.process()).unwrap()
    }

    /// The same, with its clock this many seconds ahead.
    pub(super) fn start_in<D>(&self, ahead_s: i64, new: impl FnOnce(&Context) -> Result<D, ContextError>) -> D {
        self.start(|process| new(&process.another_process_at(Clock::ahead_by_ms(ahead_s * 1000))))
    }

    fn process(&self) -> Context {
        // Between two functions a flow may do something itself.
        self.fault.interrupt();
        self.context.another_process()
    }

    /// Sends a request to the function that the gateway would route it to, in a new process.
    pub(super) async fn ask(&self, ask: Ask) {
        let (function, process) = (OPENAPI.function_for(&ask).expect("a route"), self.process());
        let answer = async { Some(Answer::of_handler(&ask, respond(function, &process, ask.request()).await)) };
        recorded_answer(&self.recorder, &ask, answer).await;
    }
}
