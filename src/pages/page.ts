import type { AppError } from '../base/errors.ts'
import type { By } from '../operations/execute.ts'
import type { Scope } from '../store/key-file.ts'

/** The state of a visitor: no key is in force, logged in, or logged out while keys are in force. */
type Login = 'not_needed' | 'in' | 'out'

/** One visit of a page, as its adapter read it. */
export type Visit = {
  /** Parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>
  /**
   * Parameters of the query, the first of each name, without empty ones: an empty field of a form counts as omitted.
   */
  readonly query: Readonly<Record<string, string>>
  /** Fields of a submitted form; empty for a GET. */
  readonly form: Readonly<Record<string, string>>
  /** The requested path with its query. */
  readonly url: string
  /** The caller as operations see it, and the signal of a visitor that disconnects. */
  readonly by: By
  /** The caller as the rate counts it: data cached for one caller is shown to no other. */
  readonly who: string
  readonly login: Login
  readonly may: (scope: Scope) => boolean
  /** The token in the forms of this visitor, as `_csrf`. */
  readonly token: string
  /**
   * The site that made the request, by `Sec-Fetch-Site`; `unknown` if the browser does not send it, `none` for a URL
   * that the visitor entered.
   */
  readonly from: 'own' | 'other' | 'none' | 'unknown'
  /** Starts a session with a key; false: no such key is in force. */
  readonly logIn: (key: string) => boolean
  readonly logOut: () => void
  /** The body of an upload as a stream, if the page accepts one. */
  readonly upload?: AsyncIterable<Uint8Array>
  readonly contentType: string
}

export type PageEvent = { readonly event: string; readonly data: object }

/** The answer to a visit. `to` is a path of this site. */
export type PageAnswer =
  | { readonly status: number; readonly html: string }
  | { readonly to: string }
  | { readonly events: AsyncIterable<PageEvent> }

export type Page = {
  readonly method: 'GET' | 'POST'
  /** In the notation of a router: `/domain/:name`. */
  readonly path: string
  /**
   * The scope that a visitor needs while keys are in force; undefined: everybody may see it, and it costs no more than
   * its HTML.
   */
  readonly scope: Scope | undefined
  /** Maximum size of a form, bytes; default 64 KiB. */
  readonly bodyLimit?: number
  /** The page reads the body as a stream. */
  readonly uploads?: true
  /**
   * Of a page whose visit asks the DNS or other hosts: who follows a link of another site gets a button that leads to
   * the page, and nothing is asked before.
   */
  readonly asks?: (visit: Visit) => Offer
  readonly visit: (visit: Visit) => Promise<PageAnswer>
}

/** The words for a page that asks, and for its button. */
type Offer = { readonly title: string; readonly typed?: string; readonly button: string }

/** A file that is the same for every visitor; its path changes with its content. */
export type StaticFile = { readonly path: string; readonly type: string; readonly body: Buffer }

/** A request that was refused, for people. */
export type Refused = {
  readonly error: AppError
  /** The id of the request, as in the log. */
  readonly instance: string
}

export type Site = {
  readonly pages: readonly Page[]
  readonly files: readonly StaticFile[]
  readonly refusal: (refused: Refused, visit: Pick<Visit, 'url' | 'login' | 'may' | 'token'>) => string
  /**
   * How the answer of an operation that people open by its own path is shown within the frame of this site; undefined
   * if it is sent unchanged.
   */
  readonly framed: (operation: string) => ((visit: Visit) => Promise<PageAnswer>) | undefined
  /** The page that shows the answer of an operation; undefined if there is none. */
  readonly pathFor: (operation: string, raw: Readonly<Record<string, unknown>>) => string | undefined
}

/** The Content-Security-Policy of every page: only scripts and styles of this site, none inline, and no framing. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
