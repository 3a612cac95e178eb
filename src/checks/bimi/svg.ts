import { SaxesParser } from 'saxes'
import type { Problem } from '../../base/problem.ts'
import { svgProblem } from './problems.ts'

/** A logo, compared with the profile that receivers require (draft-svg-tiny-ps-abrotman §2). */
export type SvgReading = {
  /** Violations of the profile, at most 20. Empty: the logo conforms to the profile. */
  readonly faults: readonly Problem[]
  /** Whether the drawing is square; null if its size is not given. */
  readonly square: boolean | null
}

/** Maximum number of elements; a larger file is not a logo. */
const MAX_ELEMENTS = 20_000
const MAX_ATTRIBUTES = 200
/** Maximum nesting of elements. */
const MAX_DEPTH = 100
/** Maximum number of violations that are reported. */
const MAX_FAULTS = 20

/**
 * The profile excludes multimedia, scripts, links, animation, raster images and foreign content; `style` is not in SVG
 * Tiny 1.2.
 */
const FORBIDDEN = new Set(
  'script image foreignobject audio video animation animate animatecolor animatemotion animatetransform set discard a handler listener prefetch style iframe'.split(
    ' ',
  ),
)

class Enough extends Error {}

/**
 * Parses a logo. Entities other than the five of XML are never resolved, nothing external is fetched, and a document
 * type is a fault. Any text is read once, and the observed properties are returned. At most 20,000 elements with 200 attributes
 * each: with the bound of the file (lookup.ts), some 15 ms.
 */
export function readSvg(written: string): SvgReading {
  const text = written.toWellFormed() // the parser throws at half a character
  const faults = new Map<string, Problem>() // by sentence: each once
  const fault: Tell = (found) => {
    if (faults.size < MAX_FAULTS) faults.set(found.text, found)
  }
  const tooMany = (): never => {
    fault(svgProblem('too_many'))
    throw new Enough()
  }
  let elements = 0
  let given = 0
  let depth = 0
  let hasTitle = false
  let square: boolean | null = null
  const parser = new SaxesParser()
  parser.on('error', (error) => {
    fault(svgProblem('xml', { reason: error.message }))
    throw new Enough()
  })
  parser.on('doctype', () => fault(svgProblem('doctype')))
  parser.on('processinginstruction', ({ target }) => fault(svgProblem('instruction', { name: target })))
  parser.on('attribute', () => {
    if (++given > MAX_ATTRIBUTES) tooMany()
  })
  parser.on('opentag', ({ name, attributes }) => {
    if (++elements > MAX_ELEMENTS || ++depth > MAX_DEPTH) tooMany()
    given = 0
    const local = name.slice(name.indexOf(':') + 1).toLowerCase()
    if (elements === 1) {
      readRoot(local, attributes, fault)
      square = isSquare(attributes)
    }
    if (depth === 2 && local === 'title') hasTitle = true
    if (FORBIDDEN.has(local)) fault(svgProblem('element', { name }))
    readAttributes(attributes, fault)
  })
  parser.on('closetag', () => void depth--)
  try {
    parser.write(text).close()
    if (!hasTitle) fault(svgProblem('no_title'))
  } catch (error) {
    if (!(error instanceof Enough)) throw error
  }
  return { faults: [...faults.values()], square }
}

/** A reference that does not point into the file itself, quoted or not. */
const OUTSIDE = /url\(\s*(?:'(?!#)|"(?!#)|[^'"#\s])/i

type Tell = (fault: Problem) => void
type Attributes = Readonly<Record<string, string>>

function readRoot(local: string, attributes: Attributes, fault: Tell): void {
  if (local !== 'svg') fault(svgProblem('root'))
  if (attributes.xmlns !== 'http://www.w3.org/2000/svg') fault(svgProblem('namespace'))
  if (attributes.version !== '1.2') fault(svgProblem('version'))
  if (attributes.baseProfile !== 'tiny-ps') fault(svgProblem('profile'))
  if (attributes.x !== undefined || attributes.y !== undefined) fault(svgProblem('position'))
}

function readAttributes(attributes: Attributes, fault: Tell): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (/^on[a-z]/i.test(name)) fault(svgProblem('script', { name }))
    if (/(?:^|:)href$/i.test(name) && !value.startsWith('#')) fault(svgProblem('outside', { name }))
    if (OUTSIDE.test(value.slice(0, 2_000))) fault(svgProblem('outside', { name }))
  }
}

/** By `viewBox`, otherwise by `width` and `height`. */
function isSquare(attributes: Attributes): boolean | null {
  const box = attributes.viewBox
    ?.trim()
    .split(/[\s,]+/, 5)
    .map(Number)
  const [width, height] =
    box?.length === 4
      ? [box[2], box[3]]
      : [Number.parseFloat(attributes.width ?? ''), Number.parseFloat(attributes.height ?? '')]
  if (!Number.isFinite(width) || !Number.isFinite(height)) return null
  return width === height
}
