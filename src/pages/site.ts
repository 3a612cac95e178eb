import { createHash } from 'node:crypto'
import { AppError, ERRORS } from '../base/errors.ts'
import { lookupAddress } from '../checks/ptr/index.ts'
import { STYLE } from '../documents/html/style.ts'
import type { Execute } from '../operations/execute.ts'
import type { Operation } from '../operations/operation.ts'
import type { StoredReports } from '../operations/reports/shared.ts'
import type { Log, World } from '../world.ts'
import { acceptedPages } from './accepted.ts'
import { addressPages } from './address.ts'
import { apiPages } from './api-reference.ts'
import { docsPages, type Texts } from './docs.ts'
import { domainPages, tryPages } from './domain.ts'
import { homePages } from './home.ts'
import { html } from './html.ts'
import { ipPages } from './ip.ts'
import { jobPages } from './job.ts'
import { jobsPages } from './jobs.ts'
import { type Assets, ICON, layout } from './layout.ts'
import { loginPages } from './login.ts'
import { messagePages } from './message.ts'
import { monitorPages } from './monitor.ts'
import { monitorsPages } from './monitors.ts'
import type { Page, Site, StaticFile } from './page.ts'
import { type Parts, streamTokens } from './parts.ts'
import { pathFor } from './paths.ts'
import { problemIn } from './problems.ts'
import { receivedPages } from './received-message.ts'
import { refusalPage } from './refusal.ts'
import { reportsPages } from './reports.ts'
import { runsOf } from './runs.ts'
import { servicePages } from './service.ts'
import { showStored, storedPages } from './stored.ts'
import { pageStyle } from './style.ts'

type SiteOptions = {
  readonly operations: readonly Operation[]
  readonly execute: Execute
  readonly now: () => number
  readonly resolve: World['resolve']
  readonly log: Pick<Log, 'error'>
  readonly version: string
  /** The islands by name, as JavaScript for browsers. */
  readonly islands: Readonly<Record<string, string>>
  readonly docs: Texts
  /** The typefaces as WOFF2, by name. */
  readonly fonts: Readonly<Record<string, Buffer>>
  /** Whether this node knows others. */
  readonly hasPeers: () => boolean
  readonly canMail: boolean
  /** Whether this service receives messages. */
  readonly canReceive: () => boolean
  readonly storedReports: StoredReports
}

/** All pages, with their files. */
export function createSite(options: SiteOptions): Site {
  const fonts = Object.entries(options.fonts).map(([name, octets]) => [name, fileOf(name, 'woff2', octets)] as const)
  const fontPaths = Object.fromEntries(fonts.map(([name, { path }]) => [name, path]))
  const style = fileOf('style', 'css', `${STYLE}${pageStyle(fontPaths)}`)
  const icon = fileOf('icon', 'svg', ICON)
  const islands = Object.entries(options.islands).map(([name, script]) => [name, fileOf(name, 'js', script)] as const)
  const assets: Assets = {
    style: style.path,
    icon: icon.path,
    typefaces: fonts.map(([, { path }]) => path),
    hasPeers: options.hasPeers,
    islands: Object.fromEntries(islands.map(([name, { path }]) => [name, path])),
  }
  const byName = new Map(options.operations.map((operation) => [operation.name, operation]))
  const parts: Parts = {
    assets,
    execute: options.execute,
    operation: (name) => {
      const operation = byName.get(name)
      if (!operation) throw new Error(`there is no operation ${name}`)
      return operation
    },
    has: (name) => byName.has(name),
    runs: runsOf({ now: options.now }),
    streams: streamTokens({ now: options.now }),
    version: options.version,
    canMail: options.canMail,
    canReceive: options.canReceive,
    storedReports: options.storedReports,
    pointers: (ip, signal) => lookupAddress({ resolve: options.resolve, signal }, ip),
    faultInWords: (error) => {
      const known = error instanceof AppError
      if (!known) options.log.error('unexpected error on a page', { err: error })
      const { title } = ERRORS[known ? error.code : 'internal']
      return html`<strong>${title}.</strong> ${known ? problemIn(error) : 'See the log.'}`
    },
  }
  return {
    pages: [
      ...homePages(parts),
      ...domainPages(parts),
      ...tryPages(parts),
      ...addressPages(parts),
      ...ipPages(parts),
      ...messagePages(parts),
      ...receivedPages(parts),
      ...jobsPages(parts),
      ...jobPages(parts),
      ...reportsPages(parts),
      ...monitorsPages(parts),
      ...acceptedPages(parts),
      ...monitorPages(parts),
      ...storedPages(parts),
      ...servicePages(parts),
      ...loginPages(parts),
      ...apiPages(parts, options.operations),
      ...docsPages(parts, options.docs),
    ].map((page) => (page.asks ? { ...page, visit: confirmed(assets, page, page.asks) } : page)),
    files: [style, icon, ...[...fonts, ...islands].map(([, file]) => file)],
    refusal: (refused, visitor) => refusalPage(assets, refused, visitor),
    framed: (operation) => (operation === 'saved show' ? (visit) => showStored(parts, visit) : undefined),
    pathFor,
  }
}

/** The visit of a page that asks; a visitor who comes by a link of another site confirms it first. */
const confirmed =
  (assets: Assets, { visit }: Page, asks: NonNullable<Page['asks']>): Page['visit'] =>
  async (one) => {
    if (one.from !== 'other') return visit(one)
    const { title, typed, button } = asks(one)
    const main = html`<main id="main" tabindex="-1"><h1>${title}</h1>
<p class="lead">You followed a link from another site. Nothing has been queried yet.</p>
<p><a class="button" href="${one.url}">${button}</a></p></main>`
    return { status: 200, html: layout(assets, one, { title, ...(typed !== undefined && { typed }), main }) }
  }

const TYPES = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
} as const

/** A file whose path contains the hash of its content: browsers may cache it forever. */
function fileOf(name: string, type: keyof typeof TYPES, content: string | Buffer): StaticFile {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12)
  return { path: `/static/${name}.${hash}.${type}`, type: TYPES[type], body: Buffer.from(content) }
}
