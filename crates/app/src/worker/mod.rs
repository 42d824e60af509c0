//! Workers: the prompt and files one is given, the sandbox it runs in, and the delivery of its result.

mod audience;
mod audit;
mod collect;
mod deliver;
mod forbidden_call;
mod job_folder;
mod leaks;
mod prompt;
mod registry;
mod result;
mod run;
mod secrets;
mod talk;

pub(crate) use audience::Audience;
pub(crate) use collect::{CollectedWork, WorkStart, collect_work};
pub(crate) use deliver::{PushIdentity, WorkDelivery, deliver_work};
pub(crate) use job_folder::{JobDocument, JobFolder, JobInputs, remove_old_folders};
pub(crate) use prompt::{PromptValues, load_task, render_prompt};
pub(crate) use registry::{RunnableWorker, WorkerRegistry};
pub(crate) use result::{CheckedResult, ExpectedResult, ResultPayload, read_result};
pub(crate) use run::WorkerRun;
pub(crate) use secrets::WorkerSecrets;
pub(crate) use talk::Talk;
