import { SaxesParser } from 'saxes'
import { printable } from '../../base/text.ts'

/** A logo, compared with the profile that receivers require (draft-svg-tiny-ps-abrotman §2). */
export type SvgReading = {
  /** Violations of the profile, as text; at most 20. Empty: the logo conforms to the profile. */
  readonly faults: readonly string[]
  /** Whether the drawing is square; null if its size is not given. */
  readonly square: boolean | null
}

/** Maximum number of elements; a larger file is not a logo. */
const MAX_ELEMENTS = 20_000
/** Maximum nesting of elements. */
const MAX_DEPTH = 100
/** Maximum number of violations that are reported. */
const MAX_FAULTS = 20

/** The profile excludes multimedia, scripts, links, animation, raster images and foreign content; `style` is not in SVG Tiny 1.2. */
const FORBIDDEN = new Set(
  'script image foreignobject audio video animation animate animatecolor animatemotion animatetransform set discard a handler listener prefetch style iframe'.split(
    ' ',
  ),
)

class Enough extends Error {}

/**
 * Parses a logo. Entities other than the five of XML are never resolved, nothing external is fetched, and a document type is a fault. Any text is read once,
 * and the observed properties are returned. At most 20,000 elements.
 */
export function readSvg(written: string): SvgReading {
  const text = written.toWellFormed() // the parser throws at half a character
  const faults = new Set<string>()
  const fault = (words: string): void => {
    if (faults.size < MAX_FAULTS) faults.add(words)
  }
  let elements = 0
  let depth = 0
  let hasTitle = false
  let square: boolean | null = null
  const parser = new SaxesParser()
  parser.on('error', (error) => {
    fault(`it is not well-formed XML: ${printable(error.message, 120)}`)
    throw new Enough()
  })
  parser.on('doctype', () => fault('it has a document type declaration'))
  parser.on('processinginstruction', ({ target }) =>
    fault(`it has a processing instruction (${printable(target, 40)})`),
  )
  parser.on('opentag', ({ name, attributes }) => {
    if (++elements > MAX_ELEMENTS || ++depth > MAX_DEPTH) {
      fault('it has too many elements')
      throw new Enough()
    }
    const local = name.slice(name.indexOf(':') + 1).toLowerCase()
    if (elements === 1) {
      readRoot(local, attributes, fault)
      square = isSquare(attributes)
    }
    if (depth === 2 && local === 'title') hasTitle = true
    if (FORBIDDEN.has(local)) fault(`the element ${printable(name, 40)} is not allowed`)
    readAttributes(attributes, fault)
  })
  parser.on('closetag', () => void depth--)
  try {
    parser.write(text).close()
    if (!hasTitle) fault('it has no title')
  } catch (error) {
    if (!(error instanceof Enough)) throw error
  }
  return { faults: [...faults], square }
}

/** A reference that does not point into the file itself, quoted or not. */
const OUTSIDE = /url\(\s*(?:'(?!#)|"(?!#)|[^'"#\s])/i

type Attributes = Readonly<Record<string, string>>

function readRoot(local: string, attributes: Attributes, fault: (words: string) => void): void {
  if (local !== 'svg') fault('its root element is not svg')
  if (attributes.xmlns !== 'http://www.w3.org/2000/svg') fault('its root element is not in the SVG namespace')
  if (attributes.version !== '1.2') fault('version is not "1.2"')
  if (attributes.baseProfile !== 'tiny-ps') fault('baseProfile is not "tiny-ps"')
  if (attributes.x !== undefined || attributes.y !== undefined) fault('its root element has x or y')
}

function readAttributes(attributes: Attributes, fault: (words: string) => void): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (/^on[a-z]/i.test(name)) fault(`the attribute ${printable(name, 40)} is a script`)
    if (/(?:^|:)href$/i.test(name) && !value.startsWith('#')) fault(`${printable(name, 40)} points outside the file`)
    if (OUTSIDE.test(value.slice(0, 2_000))) fault(`${printable(name, 40)} points outside the file`)
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
