//! The name of a patch over real rebases.

use referee_core::model::Sha;
use referee_core::track::PatchId;
use referee_git::parse_diff;

use crate::repository::Repository;

/// As gather makes it: with the texts before.
fn patch_id(repository: &Repository, base: &Sha, head: &Sha) -> PatchId {
    let git = repository.git();
    let diff = git.diff(base, head).expect("a diff");
    let files = parse_diff(&diff).expect("it is read");
    let names: Vec<&str> = files.iter().filter_map(|file| file.old_blob).collect();
    let texts = git.read_blobs(&names).expect("blobs");
    PatchId::from_files(&files, |file| {
        let at = names.iter().position(|name| file.old_blob == Some(name))?;
        texts[at].as_deref()
    })
}

// spec: INC-16, LOOP-3 @core
#[test]
fn a_real_rebase_keeps_the_patch_and_an_amended_blank_does_not() {
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
    let name = patch_id(&repository, &base, &head);
    assert_eq!(name, patch_id(&repository, &new_base, &rebased));
    repository.write("new.rs", "mod a; \n");
    let amended = repository.commit();
    assert_ne!(name, patch_id(&repository, &new_base, &amended));
}
