use referee_core::model::Sha;

use crate::repository::Repository;

#[test]
fn new_commits_are_listed_with_their_names_and_everything_they_add() {
    let repository = Repository::new();
    repository.write("shared", "a\n");
    let start = repository.commit();
    repository.write("of the base", "b\n");
    let base = repository.commit();
    repository.run(&["switch", "--quiet", "--create=topic", start.as_str()]);
    repository.write("shared", "changed\n");
    repository.write("folder/removed", "once\n");
    let first = repository.commit();
    std::fs::remove_file(repository.path("folder/removed")).expect("it is there");
    let second = repository.commit();
    repository.run(&["merge", "--quiet", "--no-commit", "main"]);
    repository.write("evil", "in a merge\n");
    let merge = repository.commit();
    // An empty folder has a name, but no file.
    let tree = repository.run(&["rev-parse", "HEAD^{tree}"]);
    let inner = repository.empty_tree();
    repository.run(&["hash-object", "-w", "-t", "tree", "/dev/null"]);
    repository.run(&["read-tree", tree.trim()]);
    let with_folder = {
        let listed = repository.run(&["ls-tree", "HEAD"]);
        repository.write(".git/entries", format!("{listed}040000 tree {inner}\tempty\n"));
        let file = std::fs::File::open(repository.path(".git/entries")).expect("a file");
        let made =
            std::process::Command::new("git").arg("mktree").current_dir(repository.path("")).stdin(file).output();
        String::from_utf8(made.expect("git runs").stdout).expect("an id")
    };
    let named = ["-c", "user.name=Ruth", "commit-tree", "-p", merge.as_str(), "-m", "a\n\nb", with_folder.trim()];
    let head = Sha::from(repository.run(&named).trim());

    let git = repository.git();
    let commits = git.list_new_commits(&head, &[&start, &base], 4).expect("a list").expect("not too many");
    let shas: Vec<&Sha> = commits.iter().map(|commit| &commit.sha).collect();
    assert_eq!(shas, [&head, &merge, &second, &first]);
    assert_eq!(git.list_new_commits(&head, &[&start, &base], 3).expect("a list"), None, "too many");
    assert_eq!(commits[0].author, "Ruth <test@localhost>");
    assert_eq!(commits[0].author_line, "Ruth <test@localhost> 1767225600 +0000");
    assert_eq!(commits[0].committer, commits[0].author);
    assert!(commits[0].bytes.ends_with(b"a\n\nb\n"));
    assert_eq!(commits[1].parents, [second.clone(), base.clone()]);

    let entries = git.list_added_entries(&commits).expect("a list");
    let mut added: Vec<(usize, String, bool)> = entries
        .iter()
        .map(|entry| {
            let at = shas.iter().position(|sha| **sha == entry.commit).expect("one of them");
            (at, String::from_utf8_lossy(&entry.path).into_owned(), entry.old_blob.is_some())
        })
        .collect();
    added.sort();
    let want = [
        (0, "empty", false),
        (1, "evil", false),
        (3, "folder", false),
        (3, "folder/removed", false),
        (3, "shared", true),
    ];
    assert_eq!(added, want.map(|(at, path, old)| (at, path.to_owned(), old)), "nothing that a parent has");
    let blobs: Vec<&str> = entries.iter().filter_map(|entry| entry.blob.as_deref()).collect();
    assert_eq!(git.measure_objects(&blobs).expect("a size"), "in a merge\nonce\nchanged\n".len() as u64);
}

#[test]
fn commits_whose_patch_the_base_has_are_found() {
    let repository = Repository::new();
    repository.write("a", "1\n");
    let start = repository.commit();
    repository.run(&["switch", "--quiet", "--create=topic"]);
    repository.write("b", "2\n");
    let picked = repository.commit();
    repository.write("c", "3\n");
    let head = repository.commit();
    repository.run(&["switch", "--quiet", "--detach", start.as_str()]);
    repository.write("d", "4\n");
    repository.commit();
    repository.run(&["cherry-pick", picked.as_str()]);
    assert_eq!(repository.git().list_commits_in_base(&repository.head(), &head).expect("a list"), [picked]);
}
