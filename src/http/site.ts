import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type AppError, ERRORS } from '../base/errors.ts'
import { PAGE_POLICY, type Page, type PageAnswer, type Site, type StaticFile, type Visit } from '../pages/page.ts'
import type { Auth, Authorize } from './authorize.ts'
import { endSlowBodies, leaveBodies } from './bodies.ts'
import { allows } from './caller.ts'
import { fromMemory } from './compress.ts'
import { type Gate, PRIVATE } from './gate.ts'
import { hangUp, inTime } from './handle.ts'
import { requestError } from './problems.ts'
import type { Sessions } from './sessions.ts'
import type { Spool } from './spool.ts'
import { sendEvents } from './streams.ts'

/** The parts of the adapter that serving pages needs. */
export type Serving = {
  readonly gate: Gate
  readonly sessions: Sessions
  readonly authorize: Authorize
  /** Whether keys are in force. */
  readonly needsKeys: () => boolean
  readonly receive: Spool
}

/** Maximum number of fields of a form. */
const MAX_FIELDS = 200

/** Serves the pages of a site, with its files from memory, through the same gate and rates as the API. */
export async function serveSite(app: FastifyInstance, site: Site, serving: Serving): Promise<void> {
  const files = new Map(site.files.map((file) => [file.path, sentFile(file)]))
  app.get('/static/:name', { config: { limit: 'probe' } }, async (request, reply) => {
    const path = request.url.split('?')[0]!
    const send = files.get(path)
    if (!send) throw requestError('nowhere', { path })
    return send(request, reply)
  })
  await app.register((forms, _, done) => {
    endSlowBodies(forms)
    readForms(forms)
    for (const page of site.pages) if (!page.uploads) mount(forms, page, serving)
    done()
  })
  await app.register((uploads, _, done) => {
    leaveBodies(uploads)
    for (const page of site.pages) if (page.uploads) mount(uploads, page, serving)
    done()
  })
}

const sentFile = ({ type, body }: StaticFile): ReturnType<typeof fromMemory> =>
  withHeaders(
    { 'cache-control': 'public, max-age=31536000, immutable' },
    fromMemory(async () => ({ type, body })),
  )

/** Reading the documents takes nothing from the rate of a reader's questions. */
const isDocument = (path: string): boolean => path === '/docs' || path.startsWith('/docs/')

function mount(app: FastifyInstance, page: Page, serving: Serving): void {
  const { method, path, scope, bodyLimit } = page
  const hooks =
    scope === undefined
      ? {
          config: { isPage: true, ...(isDocument(path) && { limit: 'probe' as const }) },
          onRequest: serving.gate.unlessStopping,
        }
      : { config: { limit: 'gate' as const, isPage: true }, ...serving.gate.hooks({ scope, path }) }
  app.route({
    method,
    url: path,
    ...(bodyLimit !== undefined && { bodyLimit }),
    ...hooks,
    handler: async (request, reply) => {
      const form = page.uploads ? {} : formOf(request)
      // An upload has its token in the query of its target: its body is not read before the token is verified.
      const given = request.headers['x-csrf-token'] ?? form._csrf ?? queryOf(request)._csrf
      if (method === 'POST') serving.sessions.refuseForged(request, typeof given === 'string' ? given : undefined)
      const visit = { ...visitOf(request, reply, serving), form }
      if (!page.uploads) return answer(reply, await page.visit(visit))
      const sent = inTime(request.raw)
      const by = { caller: request.caller, signal: hangUp(reply) }
      return answer(reply, await serving.receive(sent, by, (upload) => page.visit({ ...visit, upload })))
    },
  })
}

/** A visit, as far as it is known before its form was read. */
function visitOf(request: FastifyRequest, reply: FastifyReply, serving: Serving): Visit {
  const auth: Auth = serving.authorize({ scope: undefined }, request)
  const { key } = auth
  const isOpen = !serving.needsKeys() && auth.refused === undefined
  return {
    params: request.params as Readonly<Record<string, string>>,
    query: queryOf(request),
    form: {},
    url: request.url,
    by: { signal: hangUp(reply), ...(auth.caller && { caller: auth.caller }) },
    who: auth.by,
    login: isOpen ? 'not_needed' : key ? 'in' : 'out',
    may: (scope) => isOpen || (key !== undefined && allows(key, scope)),
    token: serving.sessions.tokenFor(request, reply),
    from: siteOf(request),
    logIn: (text) => serving.sessions.begin(request, reply, text),
    logOut: () => serving.sessions.end(request, reply),
    contentType: request.headers['content-type'] ?? '',
  }
}

function siteOf({ headers }: FastifyRequest): Visit['from'] {
  const site = headers['sec-fetch-site']
  if (site === undefined) return 'unknown'
  if (site === 'same-origin') return 'own'
  return site === 'none' ? 'none' : 'other'
}

/**
 * Sends the page of an operation that people open by its own path, after its gate has accepted the request:
 * `request.auth` is the caller.
 */
export async function sendFramed(
  show: (visit: Visit) => Promise<PageAnswer>,
  request: FastifyRequest,
  reply: FastifyReply,
  serving: Serving,
): Promise<FastifyReply> {
  const visit = visitOf(request, reply, serving)
  const caller = request.auth ?? { isAdmin: false }
  return answer(reply.header('vary', 'Accept'), await show({ ...visit, by: { ...visit.by, caller } }))
}

/** A refusal as a page. */
export function sendRefusal(
  { refusal }: Pick<Site, 'refusal'>,
  error: AppError,
  {
    request,
    reply,
    serving,
  }: { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly serving: Serving },
): FastifyReply {
  return sendPage(
    reply,
    ERRORS[error.code].status,
    refusal({ error, instance: request.id }, visitOf(request, reply, serving)),
  )
}

function answer(reply: FastifyReply, given: PageAnswer): FastifyReply {
  if ('to' in given) return reply.headers(PRIVATE).redirect(localPath(given.to), 303)
  if ('events' in given) return sendEvents(reply, given.events)
  return sendPage(reply, given.status, given.html)
}

const sendPage = (reply: FastifyReply, status: number, html: string): FastifyReply =>
  reply
    .code(status)
    .headers({ ...PRIVATE, 'content-security-policy': PAGE_POLICY, 'referrer-policy': 'same-origin' })
    .type('text/html; charset=utf-8')
    .send(html)

/** A path of this site that no browser takes for another site (`//host`, `/\host`). */
const localPath = (to: string): string => (/^\/(?![/\\])[\x21-\x7e]*$/.test(to) ? to : '/')

/** The query of a page: one value per name (pages use no repeated ones), without empty values. */
const queryOf = ({ query }: FastifyRequest): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(query ?? {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].trim() !== '',
    ),
  )

const formOf = ({ body }: FastifyRequest): Readonly<Record<string, string>> =>
  body instanceof URLSearchParams ? Object.fromEntries(body) : {}

/** Reads only `application/x-www-form-urlencoded`. */
function readForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body: string, done) => {
      const form = new URLSearchParams(body)
      if (form.size > MAX_FIELDS) done(requestError('form_fields', { max: MAX_FIELDS }))
      else done(null, form)
    },
  )
}

const withHeaders =
  (headers: Readonly<Record<string, string>>, handler: ReturnType<typeof fromMemory>): ReturnType<typeof fromMemory> =>
  (request, reply) =>
    handler(request, reply.headers(headers))
