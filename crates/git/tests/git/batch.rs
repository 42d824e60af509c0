use referee_core::model::Sha;
use referee_git::GitError;

use crate::repository::Repository;

#[test]
fn batch_queries_give_the_same_results_as_single_ones() {
    let repository = Repository::new();
    repository.write("shared", "a\nb\nc\n");
    let base = repository.commit();
    let branch = |name: &str, path: &str| {
        repository.run(&["switch", "--quiet", "--force", &format!("--create={name}"), base.as_str()]);
        repository.write(path, format!("{name}\n"));
        repository.commit()
    };
    let main = branch("trunk", "shared");
    let (apart, clash) = (branch("apart", "odd\nname"), branch("clash", "shared"));
    repository.run(&["merge", "--quiet", "--no-edit", "apart"]);
    let merged = repository.head();
    // Two best common ancestors: each side took in the other's first commit.
    repository.run(&["switch", "--quiet", "--force", "trunk"]);
    repository.run(&["merge", "--quiet", "--no-edit", "apart"]);
    let crossed = repository.head();
    repository.run(&["switch", "--quiet", "--orphan=alone"]);
    repository.write("alone", "1\n");
    let alone = repository.commit();
    let git = repository.discovered();

    let heads = [&apart, &clash, &merged, &base, &alone, &crossed, &main];
    for onto in [&main, &crossed] {
        let each: Vec<_> = heads.iter().map(|head| git.merge_base(onto, head).expect("a result")).collect();
        assert_eq!(git.merge_bases(onto, &heads).expect("a result"), each);
    }
    let pairs: Vec<(&Sha, &Sha)> = [&apart, &base, &clash, &merged, &alone].iter().map(|head| (&base, *head)).collect();
    let each: Vec<_> = pairs.iter().map(|(old, new)| git.diff(old, new).expect("a diff")).collect();
    assert_eq!(git.diff_pairs(&pairs).expect("diffs"), each);
    let pairs: Vec<(&Sha, &Sha)> = [&apart, &clash, &merged, &base].iter().map(|head| (&main, *head)).collect();
    let each: Vec<_> = pairs.iter().map(|(base, head)| git.try_merge(base, head).expect("a result")).collect();
    assert_eq!(git.try_merge_pairs(&pairs).expect("answers"), each);
    assert!(matches!(git.try_merge_pairs(&[(&main, &apart), (&main, &alone)]), Err(GitError::CommandFailed { .. })));
    let missing = Sha::from("0123456789012345678901234567890123456789");
    assert!(git.diff_pairs(&[(&base, &missing)]).is_err());
    assert!(git.merge_bases(&base, &[&missing]).is_err());
}
