import { readFileSync } from 'node:fs'

/** A table of the contract as it lies in config, read by itself: a fault of the product's own reader shows beside it. */
export const rowsOf = (name: string): Record<string, string>[] => {
  const [head = [], ...rows] = readFileSync(`config/${name}`, 'utf8')
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => text.split('\t'))
  return rows.map((cells) => Object.fromEntries(head.map((column, at) => [column, cells[at] ?? ''])))
}
