import { shippedCountryFiles, watchedFile } from '../store/mmdb-files.ts'
import type { GeoSource } from './geo.ts'

/**
 * The databases of a process: the operator's files in their order, then the shipped country data. None is read before
 * the first address that needs it.
 */
export function geoSources(
  paths: readonly string[],
  options: {
    readonly now: () => number
    readonly warn: (event: string, fields: Record<string, unknown>) => void
  },
): readonly GeoSource[] {
  const shipped = shippedCountryFiles()
  return [
    ...paths.map((path) => watchedFile(path, options)),
    { ...watchedFile(shipped[4], options), family: 4 },
    { ...watchedFile(shipped[6], options), family: 6 },
  ]
}
