import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import type { Column, FileRow } from '../../db/reports/index.ts'
import { csvFile } from '../../workers/reports/csv.ts'
import { pdfFile } from '../../workers/reports/pdf.ts'
import type { Source, Writer } from '../../workers/reports/source.ts'
import { xlsxFile } from '../../workers/reports/xlsx.ts'

const MiB = 1024 * 1024

describe('the files of long reports', function () {
  this.timeout(180_000)
  let collect: () => void
  before(() => {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  })

  const columns: Column[] = [
    { key: 'code', title: 'Account', kind: 'text' },
    { key: 'on', title: 'Date', kind: 'day' },
    { key: 'description', title: 'Description', kind: 'text' },
    { key: 'debit', title: 'Debit', kind: 'amount' },
    { key: 'credit', title: 'Credit', kind: 'amount' },
    { key: 'balance', title: 'Balance', kind: 'amount' },
  ]
  /** Memory in use that nothing can free, and buffers outside of the heap. */
  const held = () => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }

  /** Writes so many rows, each with a text of its own, and answers what is held after an early one and after the last, and how much was written. */
  const written = async (writer: Writer, count: number, early: number) => {
    const marks: number[] = []
    const rows = async function* (): AsyncGenerator<FileRow> {
      for (let index = 0; index < count; index += 1) {
        // Rows come from a cursor, page after page.
        if (index % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve))
        if (index === early || index === count - 1) marks.push(held())
        const amount = (index * 7_919) % 1_000_000
        yield {
          code: `1.1.${index % 90}`,
          on: '2025-06-30',
          description: `Entry ${index} of the month, to the customer`,
          debit: amount,
          credit: 0,
          balance: amount * 3,
        }
      }
    }
    const source: Source = {
      title: 'General ledger',
      house: 'Casa',
      head: [['Report', 'General ledger']],
      columns,
      rows: rows(),
      foot: () => null,
      charts: [],
      currency: 'BRL',
      locale: 'en',
    }
    let bytes = 0
    for await (const piece of writer(source)) bytes += Buffer.byteLength(piece)
    const [first = 0, last = 0] = marks
    return { bytes, grown: last - first }
  }

  // Past 50,000 texts a sheet keeps none; a page of a PDF costs some hundred bytes of its table of contents.
  for (const [name, writer, count, early] of [
    ['CSV', csvFile, 100_000, 10_000],
    ['XLSX', xlsxFile, 100_000, 55_000],
    ['PDF', pdfFile, 4_000, 1_000],
  ] as const)
    it(`hold no rows that are written: ${name}`, async () => {
      const { bytes, grown } = await written(writer, count, early)
      expect(bytes).to.be.greaterThan(count * 20)
      // Rows that are held would add their objects, some 300 bytes each.
      expect(grown / MiB).to.be.below(((count - early) * 150) / MiB)
    })
})
