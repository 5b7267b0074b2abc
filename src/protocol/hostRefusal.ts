/** The host heard the call and said no, or would have: the message is for people, and nothing depends on its words. */
export class HostRefused extends Error {
  override readonly name = 'HostRefused';
}

/** There is no host any more, or it is not ours: nothing listens there, or it does not know the credential. */
export class HostGone extends Error {
  override readonly name = 'HostGone';
}
