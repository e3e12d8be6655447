//! Letters: none is lost, none is sent twice at once, none for a token that is over.

use onsale_access::letters::LetterKind;

use crate::shop::*;

on_both! {
    a_letter_that_a_sender_took_and_lost_is_taken_again,
    two_senders_take_no_letter_both,
    a_letter_whose_token_was_used_or_is_over_is_not_sent,
    a_letter_that_fails_is_put_off_and_given_up_in_the_end,
    a_clock_that_jumps_back_delays_no_letter_for_long,
}

async fn ask(shop: &Shop, number: usize, now: i64) {
    let email = format!("person{number}@example.org");
    shop.accounts.register(&email, PASSWORD, None, &at(now)).await.expect("registered");
}

async fn a_letter_that_a_sender_took_and_lost_is_taken_again(shop: Shop) {
    ask(&shop, 1, T0).await;
    let first = shop.letters.take(10, T0).await.expect("letters");
    assert!(
        shop.letters.take(10, T0 + 2 * MINUTE - 1).await.expect("letters").is_empty(),
        "it is being sent"
    );
    let again = shop.letters.take(10, T0 + 2 * MINUTE).await.expect("letters");
    assert_eq!((first.len(), again.len()), (1, 1));
    assert_eq!(first[0].id, again[0].id);
    assert_eq!(first[0].token, again[0].token, "made again from the row");
    shop.letters.done(&again[0].id).await.expect("done");
    assert!(shop.letters.take(10, T0 + DAY - 1).await.expect("letters").is_empty());
}

async fn two_senders_take_no_letter_both(shop: Shop) {
    for number in 0..20 {
        ask(&shop, number, T0).await;
    }
    let senders = (0..4).map(|_| {
        let letters = shop.letters.clone();
        tokio::spawn(async move { letters.take(20, T0).await.expect("letters") })
    });
    let mut taken = Vec::new();
    for sender in senders.collect::<Vec<_>>() {
        taken.extend(sender.await.expect("it ends").into_iter().map(|letter| letter.id));
    }
    taken.sort();
    let all = taken.len();
    taken.dedup();
    assert_eq!((taken.len(), all), (20, 20));
}

async fn a_letter_whose_token_was_used_or_is_over_is_not_sent(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    shop.accounts.ask_for_reset(ANN, &at(T0)).await.expect("asked");
    shop.accounts
        .change_password(&ann.user, &ann.session, PASSWORD, OTHER_PASSWORD, &at(T0))
        .await
        .expect("changed");
    let kinds: Vec<_> = shop.all_letters(T0).await.into_iter().map(|letter| letter.kind).collect();
    assert_eq!(kinds, [LetterKind::PasswordChanged], "the link would open nothing any more");
    shop.accounts.ask_for_reset(ANN, &at(T0)).await.expect("asked");
    assert!(shop.all_letters(T0 + HOUR).await.is_empty(), "its hour is over");
    assert!(shop.all_letters(T0).await.is_empty(), "and it does not come back");
}

async fn a_letter_that_fails_is_put_off_and_given_up_in_the_end(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let session = &ann.session;
    shop.accounts
        .change_password(&ann.user, session, PASSWORD, OTHER_PASSWORD, &at(T0))
        .await
        .expect("changed");
    let mut now = T0;
    let mut tries = 0;
    while let [letter] = shop.letters.take(10, now).await.expect("letters").as_slice() {
        tries += 1;
        shop.letters.failed(&letter.id, now + HOUR, now).await.expect("put off");
        assert!(shop.letters.take(10, now + HOUR - 1).await.expect("letters").is_empty());
        now += HOUR;
        assert!(tries < 100, "it is given up some day");
    }
    assert_eq!(tries, 48, "two days with an hour between");
}

async fn a_clock_that_jumps_back_delays_no_letter_for_long(shop: Shop) {
    ask(&shop, 1, T0).await;
    assert_eq!(shop.letters.take(10, T0 - 30 * DAY).await.expect("letters").len(), 1);
    assert!(shop.letters.take(10, T0 - 30 * DAY).await.expect("letters").is_empty());
}
