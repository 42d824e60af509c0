use referee_core::model::Sha;
use referee_git::{GitError, MergeOutcome};

use crate::repository::Repository;

#[test]
fn merging_is_tried_without_touching_anything() {
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
    let MergeOutcome::Clean(tree) = git.try_merge(&main, &apart).expect("an answer") else { panic!("they are apart") };
    let files = repository.run(&["ls-tree", "-r", "--name-only", tree.as_str()]);
    assert_eq!(files, "new\n\"odd\\nname\"\nshared\n");
    assert_eq!(git.try_merge(&main, &clash).expect("an answer"), MergeOutcome::Conflicts(vec!["shared".to_owned()]));
    assert_eq!(git.try_merge(&main, &odd).expect("an answer"), MergeOutcome::Conflicts(vec!["odd\nname".to_owned()]));
    assert_eq!(git.try_merge(&main, &alone).expect("an answer"), MergeOutcome::Unrelated);
    assert!(matches!(git.try_merge(&main, &main), Ok(MergeOutcome::Clean(_))));
    let nobody = Sha::from("0123456789012345678901234567890123456789");
    assert!(matches!(git.try_merge(&main, &nobody), Err(GitError::CommitNotFound(_))));
    assert_eq!(std::fs::read(repository.path("alone")).expect("a file"), b"not committed\n");
    assert_eq!((repository.head(), repository.run(&["status", "--short"]).as_str()), (alone, " M alone\n"));
}

#[test]
fn lines_know_where_they_come_from() {
    let repository = Repository::new();
    repository.write("old name \"x\"", "one\ntwo\nthree\nfour\nfive\nsix\n");
    let first = repository.commit();
    repository.run(&["mv", "--", "old name \"x\"", "-new\nname"]);
    repository.write("-new\nname", "zero\none\ntwo\nTHREE\nfour\nfive\nsix\n");
    let second = repository.commit();
    let git = repository.discovered();
    let blamed = git.blame(&second, "-new\nname", 3..=5).expect("it is known");
    let told: Vec<_> =
        blamed.iter().map(|it| (it.line, &it.commit, it.original_path.as_str(), it.original_line)).collect();
    let old = "old name \"x\"";
    assert_eq!(told, [(3, &first, old, 2), (4, &second, "-new\nname", 4), (5, &first, old, 4)]);
    assert_eq!(blamed[0].author_email, "test@localhost");
    assert_eq!((blamed[2].author_name.as_str(), blamed[2].committed_at), ("Test", 1_767_225_600));
    assert_eq!(git.blame(&first, old, 5..=900).expect("it is known").len(), 2, "the file ends before");
    assert!(matches!(git.blame(&first, "no such file", 1..=1), Err(GitError::CommandFailed { .. })));
    assert!(matches!(git.blame(&first, old, 90..=91), Err(GitError::CommandFailed { .. })));
    let nobody = Sha::from("0123456789012345678901234567890123456789");
    assert!(matches!(git.blame(&nobody, old, 1..=1), Err(GitError::CommitNotFound(_))));
}
