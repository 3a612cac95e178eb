/**
 * The service of a provider. `mailbox`: it hosts the mailboxes and sends their mail. `gateway`: it filters mail for
 * mailboxes hosted elsewhere. `forwarder`: it forwards mail to mailboxes elsewhere. `sender`: it sends newsletters or
 * mail of applications and receives none.
 */
export type ProviderKind = 'mailbox' | 'gateway' | 'forwarder' | 'sender'

/** A mail provider: how to recognize it, and what it tells its customers to publish. */
export type Provider = {
  readonly id: string
  readonly name: string
  readonly kind: ProviderKind
  /** Names of its MX hosts in lower case. With a dot in front: the name itself and everything below it. */
  readonly mx: readonly string[]
  /** MX hosts by which its customers prove that a domain is theirs, and which take no mail; form of {@link Provider.mx}. */
  readonly verificationMx?: readonly string[]
  /** The id of the provider that runs the service, if it has another row. */
  readonly operator?: string
  /** Targets of `include:` and `redirect=` that identify it, in the form of {@link Provider.mx}. */
  readonly includes: readonly string[]
  /** The `include:` that it tells customers to publish; absent if it needs none, or if each customer has its own. */
  readonly spf?: string
  /** The same if the MX host decides (data centres, separate clouds); the keys have the form of {@link Provider.mx}. */
  readonly spfByMx?: Readonly<Record<string, string>>
  /** Targets of the CNAMEs that its customers publish as DKIM selectors, in the form of {@link Provider.mx}. */
  readonly cnames: readonly string[]
  /**
   * MX hosts and targets of aliases (CNAME) of the names to which bounces of its customers' mail go, in the form of
   * {@link Provider.mx}.
   */
  readonly returnPaths: readonly string[]
  /** MX hosts at which it takes mail in for a customer's application, and no bounces; form of {@link Provider.mx}. */
  readonly inbound?: readonly string[]
  /** One of its selectors has a key, and the other gets its own with the next rotation. */
  readonly alternates?: true
  /** DKIM selectors that its customers publish, the most common first. */
  readonly selectors: readonly string[]
  /** Selectors with the customer's number in place of `#`, and where the include has it. */
  readonly byNumber?: { readonly numberIn: RegExp; readonly numbered: readonly string[] }
  /** False if selectors have random or dated parts, so that a missing key proves nothing. */
  readonly guessable: boolean
  /**
   * How a customer enables DKIM, as an instruction. `{domain}` stands for the domain, `{dashed}` for the domain with
   * "-" in place of each ".".
   */
  readonly dkim?: string
  /** How a customer turns signing on once the aliases of the selectors are published; `{domain}` as above. */
  readonly signing?: string
  /**
   * What a customer publishes that is the same for everybody; `{domain}` and `{dashed}` as in {@link Provider.dkim}.
   * Absent: the provider's portal shows it.
   */
  readonly setup?: {
    /** MX records: preference and host. */
    readonly mx?: readonly (readonly [preference: number, host: string])[]
    /** CNAME records of DKIM keys and bounces: the name relative to the domain, and the target. */
    readonly cnames?: readonly (readonly [name: string, target: string])[]
    /**
     * Its mail has a return path of its own, or at a name below the domain: the SPF record of the domain itself needs
     * no include.
     */
    readonly ownReturnPath?: true
    readonly source: string
  }
  /** The source of the row. */
  readonly seen: string
}

/** A row in its source form: omitted lists are empty; selectors are guessable if there are any. */
type Row = Pick<Provider, 'id' | 'name' | 'seen'> & Partial<Omit<Provider, 'kind'>>

export const rows = (kind: ProviderKind, list: readonly Row[]): readonly Provider[] =>
  list.map((row) => ({
    kind,
    mx: [],
    includes: [],
    cnames: [],
    returnPaths: [],
    selectors: [],
    guessable: (row.selectors ?? []).length > 0,
    ...row,
  }))
