import { type DoctorAnswer, doctorAnswer } from '../answers/pool.ts'
import { within } from '../base/deadline.ts'
import { remembering } from '../checks/repeatable.ts'
import { summarize } from '../dnsbl/present.ts'
import { LIST_COUNT } from '../dnsbl/zone-type.ts'
import { doctorDocument } from '../documents/pool.ts'
import { domain } from '../names/domain.ts'
import { ip } from '../names/ip.ts'
import { isNode, isProxy } from '../names/source.ts'
import { DialError } from '../net/smtp/dial.ts'
import type { Ctx } from '../world.ts'
import { mailState } from './doctor-mail.ts'
import { defineOperation, ok } from './operation.ts'
import { checkSources } from './self-check.ts'

/** The test point of RFC 5782 §5 that every list has: a list that refuses us shows it here too. */
const TEST_POINT = ip('127.0.0.2')

/** Whether this machine is fit to verify mailboxes and query lists, and what to publish if it is not. */
export const doctor = defineOperation({
  name: 'doctor',
  method: 'GET',
  path: '/v1/doctor',
  summary: 'Check whether this machine can verify mailboxes',
  scope: 'admin',
  params: {},
  answer: doctorAnswer,
  document: doctorDocument,
  example: {
    input: {},
    output: {
      fit: false,
      resolver: { answers: true, public: ['9.9.9.9'] },
      lists: { total: 29, answering: 27, refusing: ['Spamhaus ZEN', 'Barracuda BRBL'] },
      sources: [
        {
          address: '192.0.2.1',
          listings: [],
          ptr: [],
          forward_confirmed: false,
          helo: '[192.0.2.1]',
          helo_resolves: null,
          spf: 'none',
          problems: ['no PTR name for EHLO: set a PTR record, or set --helo'],
          fixes: [],
        },
      ],
      repairs: ['Run your own resolver: several blacklists refuse public ones.'],
      port_25: true,
      database: { kind: 'private', ready: true, detail: 'PostgreSQL 18, started when it is first needed' },
      mail: null,
    },
  },
  deadlineMs: 30_000,
  uses: [
    ...(['sourcePool', 'blacklists', 'probes', 'publicResolvers', 'sharedDatabaseUser', 'databaseState'] as const),
    ...(['heloName', 'peers', 'smtpPort', 'submission', 'messages'] as const),
  ],
  run: async (ctx, deps) => {
    const { sourcePool, blacklists, probes, publicResolvers, sharedDatabaseUser: databaseUser } = deps
    const down = await probes.resolver(ctx.signal)
    // Without a resolver no list can answer: none is asked.
    const isUp = down === undefined
    const [lists, checks, port25, database, mail] = await Promise.all([
      isUp ? blacklists.lookup(ctx, TEST_POINT, { maxAgeMs: 0 }) : undefined,
      checkSources(remembering(ctx), deps),
      reachesMailServer(ctx, deps.smtpPort),
      deps.databaseState(),
      mailState(ctx, deps),
      isUp && sourcePool.refresh(ctx.signal),
    ])
    const refusing = (lists?.entries ?? [])
      .filter(({ reading }) => reading.status === 'blocked')
      .map(({ list }) => list.name)
    const sources = checks.map(({ source, leavesFrom, ...check }) => ({
      address: source,
      ...(isProxy(source) && { leaves_from: leavesFrom }),
      listings: isNode(source) ? [] : (sourcePool.listings(source)?.map((listing) => ({ ...listing })) ?? null),
      ...check,
    }))
    const isListed = sources.some(({ listings }) => listings !== null && listings.length > 0)
    const unknown = sources.filter(({ listings }) => listings === null).map(({ address }) => address)
    const hasSource = sources.length > 0
    const about = { hasSource, isListed, unknown, port25, database, databaseUser, mail }
    const repairs = repairsOf({ down, publicResolvers, refusing, ...about })
    const isInOrder = sources.length > 0 && checks.every(({ problems }) => problems.length === 0)
    const fit = isUp && isInOrder && !isListed && unknown.length === 0
    return ok({
      fit,
      resolver: {
        answers: isUp,
        ...(!isUp && { reason: down }),
        public: publicResolvers,
      },
      lists: { total: LIST_COUNT, answering: lists === undefined ? 0 : summarize(lists).answered, refusing },
      sources,
      repairs,
      port_25: port25,
      database,
      mail,
    })
  },
  verdict: ({ fit }) => (fit ? 'good' : 'bad'),
})

/** A mail host that answers everybody who can reach port 25. */
const MAIL_HOST = domain('gmail-smtp-in.l.google.com')
const CONNECT_MS = 5_000

/**
 * Whether this machine reaches port 25 of others: one connection, without a command. Null if that says nothing: its
 * address is not found, or this machine has no network.
 */
async function reachesMailServer({ resolve, dial, signal }: Ctx, port: number): Promise<boolean | null> {
  const until = within(CONNECT_MS, signal)
  try {
    const answer = await resolve(MAIL_HOST, 'A', until)
    const [address] = answer.kind === 'found' ? answer.records : []
    if (address === undefined) return null
    const connection = await dial({ address, port }, until)
    connection.close()
    return true
  } catch (error) {
    const { reason } = error instanceof DialError ? error : { reason: undefined }
    return reason === 'connect_timeout' || reason === 'connect_refused' ? false : null
  }
}

type Seen = {
  readonly port25: boolean | null
  readonly database: DoctorAnswer['database']
  readonly mail: DoctorAnswer['mail']
  /** Why the resolver does not answer. */
  readonly down: string | undefined
  readonly publicResolvers: readonly string[]
  /** Lists that refuse the resolver. */
  readonly refusing: readonly string[]
  readonly hasSource: boolean
  readonly isListed: boolean
  /** The user of the private database, if other services share it. */
  readonly databaseUser: string | undefined
  /** Addresses of ours for which no list answered. */
  readonly unknown: readonly string[]
}

/** What the operator should do, most urgent first. */
function repairsOf(seen: Seen): string[] {
  const { down, publicResolvers, refusing, hasSource, isListed, unknown, port25, database, databaseUser, mail } = seen
  const rows: readonly (readonly [boolean, string])[] = [
    [down !== undefined, `The resolver cannot be used: ${down}. Fix this first: every other check needs the resolver.`],
    [publicResolvers.length > 0, 'Run your own resolver: several blacklists refuse public ones.'],
    [
      refusing.length > 0,
      `${refusing.length === 1 ? '1 blacklist refuses' : `${refusing.length} blacklists refuse`} this resolver (${refusing.join(', ')}): register its address there, or set the key of the blacklist.`,
    ],
    [
      port25 === false,
      'Outgoing port 25 is blocked: every verification ends as unreachable. Ask the provider of this machine to open it, or verify through another node or a proxy.',
    ],
    [!database.ready, `Jobs, monitors and reports have no database: ${database.detail}.`],
    [mail?.ready === false, `Messages and digests cannot be sent by mail: ${mail?.detail}.`],
    [
      mail?.ready === true && mail.one_click === false,
      `Mail providers show no unsubscribe button at digests: ${mail?.detail}. Set --public-url, and let the submission server sign List-Unsubscribe and List-Unsubscribe-Post with DKIM.`,
    ],
    [
      !hasSource,
      'This machine has no public address: mail hosts see the address of its network, which cannot be checked from here. If the machine can bind that address, set it with --pool.',
    ],
    [
      unknown.length > 0,
      `It could not be determined whether ${unknown.slice(0, 5).join(', ')} ${unknown.length === 1 ? 'is' : 'are'} listed: no blacklist answered. Check the resolver and try again.`,
    ],
    [
      databaseUser !== undefined,
      `The private database runs as ${databaseUser}, a user that other services of this machine share. Create one of its own (useradd --system --shell /usr/sbin/nologin mailsonde-db), stop the service, give it the folder (chown -R mailsonde-db: postgres, in the data folder) and start with --db-user mailsonde-db; or run the service as a user of its own instead of root.`,
    ],
    [isListed, 'Listed addresses are not used for providers that apply that blacklist; request removal.'],
  ]
  return rows.flatMap(([holds, repair]) => (holds ? [repair] : []))
}
