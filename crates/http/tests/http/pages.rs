//! Lists in pages, and whether all of a list was seen.

use referee_http::{Call, HttpError, Pages, Paging, Route};

use crate::server::{Reply, Server};

const LIST: Route = Route::get("/reviews");
const ROUTES: &[Route] = &[LIST];

fn page(total: &str, rows: &str) -> Reply {
    Reply::new("200 OK", &format!("X-Total-Count: {total}\r\n"), rows)
}

async fn read(replies: &[Reply]) -> (Server, Result<Pages, HttpError>) {
    let server = Server::new(replies.to_vec()).await;
    let paging = Paging { limit: "limit", size: 2, most: 4, total: "x-total-count" };
    let pages = server.client(ROUTES).pages(&Call::new(&LIST, [""; 0]).with("all", 1), &paging).await;
    (server, pages)
}

async fn rows(replies: &[Reply]) -> (Vec<u32>, bool, usize) {
    let (server, pages) = read(replies).await;
    let pages = pages.expect("pages");
    (pages.rows().expect("rows"), pages.complete, server.seen().len())
}

#[tokio::test]
async fn a_list_ends_where_the_server_says() {
    assert_eq!(rows(&[page("0", "[]")]).await, (vec![], true, 1));
    assert_eq!(rows(&[page("2", "[1,2]")]).await, (vec![1, 2], true, 1));
    assert_eq!(rows(&[page("3", "[1,2]"), page("3", "[3]")]).await, (vec![1, 2, 3], true, 2));
    let (server, _) = read(&[page("3", "[1,2]"), page("3", "[3]")]).await;
    let want = ["GET /api/v1/reviews?all=1&page=1&limit=2", "GET /api/v1/reviews?all=1&page=2&limit=2"];
    assert_eq!(server.lines(), want);
}

#[tokio::test]
async fn a_short_or_null_page_is_not_the_end() {
    let hidden = [page("5", "[1]"), page("5", "null"), page("5", "[5]"), page("5", "null")];
    assert_eq!(rows(&hidden).await, (vec![1, 5], true, 4));
    let smaller = [page("3", "[1]"), page("3", "[2]"), page("3", "[3]")];
    assert_eq!(rows(&smaller).await, (vec![1, 2, 3], true, 3));
}

#[tokio::test]
async fn a_list_that_was_not_seen_to_its_end_says_so() {
    assert_eq!(rows(&[page("99", "[1,2]")]).await, (vec![1, 2, 1, 2, 1, 2, 1, 2], false, 4));
    assert_eq!(rows(&[Reply::ok("[1,2]")]).await, (vec![1, 2], false, 1));
    assert_eq!(rows(&[page("many", "[1,2]")]).await, (vec![1, 2], false, 1));
}

#[tokio::test]
async fn a_failure_on_the_way_is_handed_over() {
    let (_, pages) = read(&[page("3", "[1,2]"), Reply::new("404 Not Found", "", "{\"message\":\"gone\"}")]).await;
    let pages = pages.expect("pages");
    assert!(!pages.complete);
    assert_eq!(pages.failure().map(|it| (it.status, it.message())), Some((404, "gone".to_owned())));
    assert!(pages.rows::<u32>().is_err());
    let (_, pages) = read(&[page("3", "{\"rows\":[]}")]).await;
    assert!(matches!(pages, Err(HttpError::Unreadable(_))));
}
