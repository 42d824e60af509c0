use referee_core::model::Sha;
use referee_git::{GitError, MergeOutcome};

use crate::repository::Repository;

#[test]
fn a_trial_merge_changes_neither_work_tree_nor_refs() {
    let repository = Repository::new();
    repository.write("shared", "a\nb\nc\n");
    repository.write("odd\nname", "a\n");
    let base = repository.commit();
    repository.write("shared", "a\nmain\nc\n");
    repository.write("odd\nname", "main\n");
    let main = repository.commit();
    let branch = |name: &str, path: &str| {
        repository.run(&["switch", "--quiet", "--force", &format!("--create={name}"), base.as_str()]);
        repository.write(path, format!("{name}\n"));
        repository.commit()
    };
    let (apart, clash, odd) = (branch("apart", "new"), branch("clash", "shared"), branch("odd", "odd\nname"));
    repository.run(&["switch", "--quiet", "--orphan=alone"]);
    repository.write("alone", "1\n");
    let alone = repository.commit();
    repository.write("alone", "not committed\n");
    let git = repository.discovered();
    let MergeOutcome::Clean(tree) = git.try_merge(&main, &apart).expect("a result") else { panic!("no conflict") };
    let files = repository.run(&["ls-tree", "-r", "--name-only", tree.as_str()]);
    assert_eq!(files, "new\n\"odd\\nname\"\nshared\n");
    let conflicts = |head| match git.try_merge(&main, head).expect("a result") {
        MergeOutcome::Conflicts { tree, paths } => (tree, paths),
        other => panic!("{other:?}"),
    };
    let (tree, paths) = conflicts(&clash);
    assert_eq!(paths, ["shared"]);
    let merged = git.read_files(&tree, &["shared"]).expect("a file").pop().flatten().expect("the merged file");
    let merged = String::from_utf8(merged).expect("a text");
    assert!(
        merged.contains(&format!("<<<<<<< {main}\n")) && merged.contains(&format!(">>>>>>> {clash}\n")),
        "{merged}"
    );
    assert_eq!(conflicts(&odd).1, ["odd\nname"]);
    assert_eq!(git.try_merge(&main, &alone).expect("a result"), MergeOutcome::Unrelated);
    assert!(matches!(git.try_merge(&main, &main), Ok(MergeOutcome::Clean(_))));
    let missing = Sha::from("0123456789012345678901234567890123456789");
    assert!(matches!(git.try_merge(&main, &missing), Err(GitError::CommitNotFound(_))));
    assert_eq!(std::fs::read(repository.path("alone")).expect("a file"), b"not committed\n");
    assert_eq!((repository.head(), repository.run(&["status", "--short"]).as_str()), (alone, " M alone\n"));
}
