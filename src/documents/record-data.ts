/** Fields of a record's data in one line: `preference 10, exchange mx.example.org`. */
export const formatData = (data: Readonly<Record<string, string | number | boolean>>): string =>
  Object.entries(data)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
