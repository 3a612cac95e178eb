/**
 * What a provider does for a domain. `mailbox`: it hosts the mailboxes and sends their mail. `gateway`: it filters mail for mailboxes hosted elsewhere.
 * `forwarder`: it passes mail on to mailboxes elsewhere. `sender`: it sends newsletters or mail of applications and takes none in.
 */
export type ProviderKind = 'mailbox' | 'gateway' | 'forwarder' | 'sender'

/** A mail provider: how it is recognised, and what it tells its customers to publish. */
export type Provider = {
  readonly id: string
  readonly name: string
  readonly kind: ProviderKind
  /** Names of its MX hosts in lower case. With a dot in front: the name itself and everything below it. */
  readonly mx: readonly string[]
  /** Targets of `include:` and `redirect=` that stand for it, written as {@link Provider.mx}. */
  readonly includes: readonly string[]
  /** The `include:` that it tells customers to publish; absent where it needs none, or where each customer has its own. */
  readonly spf?: string
  /** The same where the MX host decides (data centres, separate clouds); the keys are written as {@link Provider.mx}. */
  readonly spfByMx?: Readonly<Record<string, string>>
  /** Targets of the CNAMEs that its customers publish as DKIM selectors, written as {@link Provider.mx}. */
  readonly cnames: readonly string[]
  /** Of its selectors one has a key, and the other gets its own with the next rotation. */
  readonly alternates?: true
  /** DKIM selectors that its customers publish, the usual ones first. */
  readonly selectors: readonly string[]
  /** False where selectors have random or dated parts, so that not finding a key means nothing. */
  readonly guessable: boolean
  /** How a customer turns DKIM on, as an instruction. `{domain}` stands for the domain, `{dashed}` for the domain with "-" in place of each ".". */
  readonly dkim?: string
  /** Where the row comes from. */
  readonly seen: string
}

/** A row as it is written: what is not given is an empty list; selectors are guessable when there are some. */
export type Row = Pick<Provider, 'id' | 'name' | 'seen'> & Partial<Omit<Provider, 'kind'>>

export const rows = (kind: ProviderKind, list: readonly Row[]): readonly Provider[] =>
  list.map((row) => ({
    kind,
    mx: [],
    includes: [],
    cnames: [],
    selectors: [],
    guessable: (row.selectors ?? []).length > 0,
    ...row,
  }))
