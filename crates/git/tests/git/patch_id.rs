//! Patch ids across real rebases.

use referee_core::model::Sha;
use referee_core::track::PatchId;
use referee_git::parse_diff;

use crate::repository::Repository;

/// Computes the patch id as `gather` does, with the old file contents.
fn patch_id(repository: &Repository, base: &Sha, head: &Sha) -> PatchId {
    let git = repository.git();
    let diff = git.diff(base, head).expect("a diff");
    let files = parse_diff(&diff).expect("a valid diff");
    let blobs: Vec<&str> = files.iter().filter_map(|file| file.old_blob).collect();
    let texts = git.read_blobs(&blobs).expect("blobs");
    PatchId::from_files(&files, |file| {
        let index = blobs.iter().position(|blob| file.old_blob == Some(blob))?;
        texts[index].as_deref()
    })
}

// spec: INC-16, LOOP-3 @core
#[test]
fn a_rebase_keeps_the_patch_id_and_an_amended_space_changes_it() {
    let repository = Repository::new();
    let text: String = (0..80).map(|line| format!("fn number_{line}() {{}}\n")).collect();
    repository.write("a.rs", &text);
    repository.write("logo.png", b"\0one");
    let base = repository.commit();
    repository.run(&["checkout", "--quiet", "-b", "pull"]);
    repository.write("a.rs", text.replace("number_40()", "forty()").replace("number_60()", "sixty()"));
    repository.write("logo.png", b"\0two");
    repository.write("new.rs", "mod a;\n");
    let head = repository.commit();
    repository.run(&["checkout", "--quiet", "main"]);
    repository.write("a.rs", format!("//! Numbers.\n\n{}", text.replace("fn number_75() {}\n", "")));
    repository.write("other.rs", "mod other;\n");
    let new_base = repository.commit();
    repository.run(&["checkout", "--quiet", "pull"]);
    repository.run(&["rebase", "--quiet", "main"]);
    let rebased = repository.head();
    assert_ne!(head, rebased);
    let original = patch_id(&repository, &base, &head);
    assert_eq!(original, patch_id(&repository, &new_base, &rebased));
    repository.write("new.rs", "mod a; \n");
    let amended = repository.commit();
    assert_ne!(original, patch_id(&repository, &new_base, &amended));
}
