//! Finds the file of a project.

use std::path::{Path, PathBuf};

use referee_core::say::find_nearest_word;

use super::ProjectFile;
use crate::failure::Failure;
use crate::session::Options;
use crate::session::config_files;

/// A project and the path of its file.
#[derive(Debug)]
pub(crate) struct LoadedProject {
    pub(crate) path: PathBuf,
    pub(crate) file: ProjectFile,
}

impl LoadedProject {
    /// Returns the name of the project: that of its file without the extension.
    pub(crate) fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns the folder of custom worker tasks, which need not exist.
    pub(crate) fn tasks_dir(&self) -> PathBuf {
        self.path.with_file_name("worker-tasks")
    }
}

const PROJECT_EXTENSIONS: [&str; 3] = ["yaml", "yml", "toml"];

/// Loads a project by path, or by name from `folder`, by default `projects` beside the operator file.
pub(crate) fn find_project(options: &Options, project: &str, folder: Option<&Path>) -> Result<LoadedProject, Failure> {
    let is_path = project.contains(['/', '\\']) || project_extension(Path::new(project)).is_some();
    let path = if is_path { options.dir.join(project) } else { find_by_name(options, project, folder)? };
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::usage(format!("the project file `{}` cannot be read: {error}", path.display())))?;
    Ok(LoadedProject { file: ProjectFile::parse(&path, &text)?, path })
}

fn find_by_name(options: &Options, name: &str, folder: Option<&Path>) -> Result<PathBuf, Failure> {
    let default_folder = || Some(config_files::operator_path(options)?.parent()?.join("projects"));
    let Some(folder) = folder.map(|folder| options.dir.join(folder)).or_else(default_folder) else {
        return Err(Failure::usage(format!("the project `{name}` was not found: there is no project folder"))
            .with_hint("pass `--projects DIR`, or the path of the project file"));
    };
    let found = PROJECT_EXTENSIONS
        .iter()
        .map(|extension| folder.join(format!("{name}.{extension}")))
        .find(|path| path.exists());
    found.ok_or_else(|| {
        let failure = Failure::usage(format!("there is no project `{name}` in `{}`", folder.display()));
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let names: Vec<String> = entries
            .filter(|path| project_extension(path).is_some())
            .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
            .collect();
        match find_nearest_word(name, names.iter().map(String::as_str)) {
            Some(nearest) => failure.with_hint(format!("did you mean `{nearest}`?")),
            None => failure.with_hint(format!("create `{name}.yaml` there, or pass the path of the project file")),
        }
    })
}

fn project_extension(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?;
    PROJECT_EXTENSIONS.into_iter().find(|known| *known == extension)
}
