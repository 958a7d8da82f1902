//! The `main` of every function: sets up logs and metrics, makes the dependencies and serves.

use std::pin::Pin;
#[cfg(feature = "http")]
use std::sync::Arc;

#[cfg(feature = "http")]
use lambda_http::{Body, Request, Response};
use lambda_runtime::{LambdaEvent, service_fn};
use runtime::{Metrics, Settings, init_telemetry};
use serde::{Deserialize, Serialize};

use crate::{Context, ContextError, Error};

/// A function that serves, for the life of its process.
///
/// Boxed, since an `async fn` is compiled by the crate that polls it: the program that is all functions would compile all
/// of them, without the optimization that is set for the crates of a request.
pub type Serving = Pin<Box<dyn Future<Output = Result<(), Error>>>>;

/// The program of a function: runs it on all of the process's cores.
#[macro_export]
macro_rules! main {
    ($function:ident) => {
        fn main() -> Result<(), $crate::Error> {
            $crate::block_on($function::run())
        }
    };
}

/// The dependencies of a function, and how each is made from the context.
#[macro_export]
macro_rules! deps {
    ($(#[$meta:meta])* $deps:ident($context:ident) {
        $($(#[$doc:meta])* $visible:vis $name:ident: $type:ty = $made:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone)]
        pub struct $deps {
            $($(#[$doc])* $visible $name: $type,)*
        }

        impl $deps {
            pub fn new($context: &$crate::Context) -> Result<Self, $crate::ContextError> {
                Ok(Self { $($name: $made,)* })
            }
        }
    };
}

/// For [`main!`].
#[doc(hidden)]
pub fn block_on(function: Serving) -> Result<(), Error> {
    tokio::runtime::Runtime::new()?.block_on(function)
}

fn start() -> Result<(Metrics, Context), Error> {
    Ok((init_telemetry(&Settings::environment())?, Context::from_environment()?))
}

/// Handles the events of a queue, a stream or a schedule one by one, and publishes metrics after each, since Lambda may
/// freeze the process until the next one. Runs for the life of the process. Fails if a setting is missing or unusable, or
/// if Lambda or a stand-in for it did not start the process.
pub fn serve_events<D, E, R>(
    new: impl FnOnce(&Context) -> Result<D, ContextError> + 'static,
    handle: impl AsyncFn(&D, E) -> Result<R, Error> + 'static,
) -> Serving
where
    D: 'static,
    E: for<'de> Deserialize<'de> + 'static,
    R: Serialize + 'static,
{
    Box::pin(async move {
        let (metrics, context) = start()?;
        let (deps, handle, metrics) = (&new(&context)?, &handle, &metrics);
        context.warm().await;
        lambda_runtime::run(service_fn(move |event: LambdaEvent<E>| async move {
            // Boxed: the compiler gives up on a future that contains all of a function's futures.
            let handled = Box::pin(handle(deps, event.payload)).await;
            metrics.publish();
            handled
        }))
        .await
    })
}

/// Answers API Gateway's requests, concurrently where Lambda sends a process several. Runs for the life of the process.
/// With a CDN in front, takes the viewer's address from it and refuses what bypassed it. Fails as [`serve_events`].
#[cfg(feature = "http")]
pub fn serve<D, F>(
    new: impl FnOnce(&Context) -> Result<D, ContextError> + 'static,
    handle: impl Fn(Arc<D>, Request) -> F + Clone + Send + Sync + 'static,
) -> Serving
where
    D: Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    Box::pin(async move {
        let (metrics, context) = start()?;
        let (deps, edge) = (Arc::new(new(&context)?), Arc::new(context.edge()?));
        context.warm().await;
        api::serve(metrics, move |mut request| {
            let (deps, edge, handle) = (Arc::clone(&deps), Arc::clone(&edge), handle.clone());
            async move {
                match edge.let_in(&mut request).await {
                    Ok(()) => handle(deps, request).await,
                    Err(refusal) => refusal,
                }
            }
        })
        .await
    })
}

/// Like [`serve`], for functions that face a crowd: also counts demand and answers. Fails as [`serve_events`].
#[cfg(feature = "crowd")]
pub fn serve_crowd<D, F>(
    new: impl FnOnce(&Context) -> Result<D, ContextError> + 'static,
    handle: impl Fn(Arc<D>, Request) -> F + Clone + Send + Sync + 'static,
) -> Serving
where
    D: Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    Box::pin(async move {
        let (metrics, context) = start()?;
        let deps = Arc::new(new(&context)?);
        let snapshots = context.snapshots()?;
        let beside = Arc::new((context.edge()?, snapshots.clone(), context.stock()?));
        context.warm().await;
        let metrics = metrics.before_publishing(move || snapshots.report_demand());
        api::serve(metrics, move |mut request| {
            let (deps, beside, handle) = (Arc::clone(&deps), Arc::clone(&beside), handle.clone());
            async move {
                let (edge, snapshots, stock) = &*beside;
                if let Err(refusal) = edge.let_in(&mut request).await {
                    return refusal;
                }
                let response = handle(deps, request).await;
                snapshots.flush_answers_soon(stock);
                response
            }
        })
        .await
    })
}
