import { doctorAnswer } from '../answers/pool.ts'
import { remembering } from '../checks/repeatable.ts'
import { summarize } from '../dnsbl/present.ts'
import { doctorDocument } from '../documents/pool.ts'
import { ip } from '../names/ip.ts'
import { isNode, isProxy } from '../names/source.ts'
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
    },
  },
  deadlineMs: 30_000,
  uses: ['sourcePool', 'blacklists', 'probes', 'publicResolvers', 'sharedDatabaseUser', 'heloName', 'peers'],
  run: async (ctx, deps) => {
    const { sourcePool, blacklists, probes, publicResolvers, sharedDatabaseUser: databaseUser } = deps
    const [down, lists, checks] = await Promise.all([
      probes.resolver(ctx.signal),
      blacklists.lookup(ctx, TEST_POINT, { maxAgeMs: 0 }),
      checkSources(remembering(ctx), deps),
      sourcePool.refresh(ctx.signal),
    ])
    const refusing = lists.entries.filter(({ reading }) => reading.status === 'blocked').map(({ list }) => list.name)
    const sources = checks.map(({ source, leavesFrom, ...check }) => ({
      address: source,
      ...(isProxy(source) && { leaves_from: leavesFrom }),
      listings: isNode(source) ? [] : (sourcePool.listings(source)?.map((listing) => ({ ...listing })) ?? null),
      ...check,
    }))
    const isListed = sources.some(({ listings }) => listings !== null && listings.length > 0)
    const unknown = sources.filter(({ listings }) => listings === null).map(({ address }) => address)
    const hasSource = sources.length > 0
    const repairs = repairsOf({ down, publicResolvers, refusing, hasSource, isListed, unknown, databaseUser })
    const isInOrder = sources.length > 0 && checks.every(({ problems }) => problems.length === 0)
    const fit = down === undefined && isInOrder && !isListed && unknown.length === 0
    return ok({
      fit,
      resolver: {
        answers: down === undefined,
        ...(down === undefined ? {} : { reason: down }),
        public: publicResolvers,
      },
      lists: { total: lists.entries.length, answering: summarize(lists).answered, refusing },
      sources,
      repairs,
    })
  },
  verdict: ({ fit }) => (fit ? 'good' : 'bad'),
})

type Seen = {
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
function repairsOf({ down, publicResolvers, refusing, hasSource, isListed, unknown, databaseUser }: Seen): string[] {
  const rows: readonly (readonly [boolean, string])[] = [
    [down !== undefined, `The resolver cannot be used: ${down}. Fix this first: every other check needs the resolver.`],
    [publicResolvers.length > 0, 'Run your own resolver: several blacklists refuse public ones.'],
    [
      refusing.length > 0,
      `${refusing.length === 1 ? '1 blacklist refuses' : `${refusing.length} blacklists refuse`} this resolver (${refusing.join(', ')}): register its address there, or set the key of the blacklist.`,
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
