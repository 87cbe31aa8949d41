import { expect } from 'chai'
import type { CsvMapping } from '../../config/cash-statements.ts'
import type { StatementFile } from '../../db/cash/index.ts'
import { readStatementFile } from '../../workers/cash/statements/index.ts'
import { cnabFile, ofxFile } from './statement-files.ts'

const mapping: CsvMapping = {
  delimiter: ';',
  skipRows: 1,
  date: { column: 'Data', format: 'DD/MM/YYYY' },
  amount: { column: 'Valor' },
  decimal: ',',
  textColumns: ['Texto'],
}

const read = (format: StatementFile['format'], bytes: Buffer, map: CsvMapping | null = null) =>
  readStatementFile({ format, bytes, mapping: map, digits: 2 })
/** The message of a file that cannot be read; the count of lines of any other. */
const said = (...file: Parameters<typeof read>): string | number => {
  const found = read(...file)
  return 'code' in found ? found.message : found.lines.length
}

describe('a file of a bank', () => {
  const cnab = cnabFile(
    [
      { on: '2026-09-03', amount: -12_345, text: 'TARIFA' },
      { on: '2026-09-04', amount: 5_000, text: 'PIX' },
      { on: '2026-09-04', amount: 700, text: 'PIX' },
    ],
    { opening: 100_000, closing: 93_355, from: '2026-09-03', to: '2026-09-04' },
  ).toString('latin1')
  const records = cnab.split('\r\n')
  /** The CNAB with other characters at a position (from 1) of a line. */
  const changed = (line: number, at: number, text: string): Buffer =>
    Buffer.from(
      records
        .map((one, index) => (index === line - 1 ? one.slice(0, at - 1) + text + one.slice(at - 1 + text.length) : one))
        .join('\r\n'),
      'latin1',
    )

  it('of CNAB 240 has the counts and totals that its trailers say', () => {
    expect(said('cnab240', Buffer.from(cnab, 'latin1'))).to.equal(3)
    const cases: [Buffer, RegExp][] = [
      [changed(6, 171, '000006'), /^Line 6: the trailer says "000006" for records of the lot, the file has 5$/],
      [changed(6, 177, '000000000000012346'), /^Line 6: .*12346" for the total of debits, the file has 12345$/],
      [changed(6, 195, '000000000000005701'), /^Line 6: .*5701" for the total of credits, the file has 5700$/],
      [changed(7, 18, '000002'), /^Line 7: .*"000002" for lots of the file, the file has 1$/],
      [changed(7, 24, '000008'), /^Line 7: .*"000008" for records of the file, the file has 7$/],
      [changed(6, 171, 'x'), /^Line 6: the trailer says "x00005"/],
      [
        changed(6, 151, '000000000000093356'),
        /^Line 6: the closing balance is 93356; the opening balance of 100000 with the lines comes to 93355$/,
      ],
      // A record that was lost on the way.
      [
        Buffer.from(records.toSpliced(3, 1).join('\r\n'), 'latin1'),
        /^Line 5: .*"000005" for records of the lot, the file has 4$/,
      ],
      [changed(4, 143, '31022026'), /^Line 4: the date "31022026" is no day of 1990 to 2099$/],
      [changed(4, 169, 'X'), /^Line 4: the amount "000000000000005000X" cannot be read$/],
    ]
    for (const [file, message] of cases) expect(said('cnab240', file)).to.match(message)
    // A trailer that says nothing is not held against the lines, nor are blank lines counted.
    const silent = changed(6, 171, ' '.repeat(42)).toString('latin1').replace('\r\n', '\r\n\r\n')
    expect(said('cnab240', Buffer.from(silent, 'latin1'))).to.equal(3)
  })

  const one = { on: '2026-09-03', amount: '-10.00', id: '1', memo: 'TARIFA' }
  const ofx = (line: Partial<typeof one>) => ofxFile([one, { ...one, ...line }], { balance: '1', to: '2026-09-03' })

  it('of OFX names the line of an amount, sign or date that is wrong', () => {
    expect(said('ofx', ofx({ amount: '-1.234,56' }))).to.equal(2)
    const cases: [Buffer, RegExp][] = [
      [ofx({ amount: '1,234' }), /^Line 19: the amount "1,234" cannot be read$/],
      [ofx({ on: '2026-02-30' }), /^Line 19: the date "20260230100000\[-3:GMT\]" is no day/],
      [ofx({ on: '0026-09-03' }), /^Line 19: the date "00260903/],
      [
        Buffer.from(ofx({}).toString('latin1').replaceAll('20260903100000', '202609031')),
        /^Line 12: the date "202609031\[/,
      ],
      [
        Buffer.from(ofx({ amount: '10.00' }).toString('latin1').replace('CREDIT', 'DEBIT'), 'latin1'),
        /^Line 19: the sign of "10.00" is not that of a DEBIT$/,
      ],
      [
        Buffer.from(
          ofx({ id: '2' })
            .toString('latin1')
            .replace(/DEBIT(?![^]*DEBIT)/, 'CREDIT'),
          'latin1',
        ),
        /^Line 19: the sign of "-10.00" is not that of a CREDIT$/,
      ],
      [
        Buffer.from(
          ofx({}).toString('latin1').replace('<BANKTRANLIST>', '<DTSTART>20260905<DTEND>20260901<BANKTRANLIST>'),
        ),
        /^Line 9: the statement ends on 2026-09-01, before it begins on 2026-09-05$/,
      ],
      [
        Buffer.from(ofx({}).toString('latin1').replace('</OFX>', '<STMTRS></STMTRS></OFX>')),
        /^Line 28: a statement of another account begins/,
      ],
    ]
    for (const [file, message] of cases) expect(said('ofx', file)).to.match(message)
  })

  it('is read in the encodings of banks alone, never in a mixture', () => {
    const accented = ofx({ memo: 'SAQUE CARTÃO' })
    expect(said('ofx', accented)).to.equal(2)
    const utf8 = ofxFile([{ ...one, memo: 'CARTÃO' }], { balance: '1', to: '2026-09-03', encoding: 'utf8' })
    expect(said('ofx', utf8)).to.equal(1)
    const at = utf8.indexOf('<LEDGERBAL')
    const mixed = Buffer.concat([utf8.subarray(0, at), Buffer.from('Ç', 'latin1'), utf8.subarray(at)])
    expect(said('ofx', mixed)).to.match(/^Line 20: letters in another encoding/)
    expect(said('ofx', Buffer.from(`\uFEFF${ofx({}).toString('latin1')}`, 'utf16le'))).to.match(/^Line 1: .*UTF-16/)
    const unknown = Buffer.from(ofx({ memo: 'SAQUE \u0081' }).toString('latin1'), 'latin1')
    expect(said('ofx', unknown)).to.match(/^Line 24: bytes that stand for no letter/)
  })

  it('of CSV names the line of what cannot be read, also after cells of several lines', () => {
    const csv = (row: string, map: Partial<CsvMapping> = {}) =>
      said('csv', Buffer.from(['Conta 1', 'Data;Texto;Valor;Saída', '03/09/2026;"a\nb";-1,00;', row].join('\r\n')), {
        ...mapping,
        ...map,
      })
    const sides = { amount: { inColumn: 'Valor', outColumn: 'Saída' } }
    expect(csv('03/09/2026;c;1.234,56;')).to.equal(2)
    expect(csv('03/09/2026;c;1234.56;')).to.equal(
      'Line 5: the amount "1234.56" cannot be read with the decimal mark ","',
    )
    expect(csv('2026-09-03;c;1,00;')).to.equal('Line 5: the date "2026-09-03" cannot be read as DD/MM/YYYY')
    expect(csv('03/09/0026;c;1,00;')).to.match(/^Line 5: the date "03\/09\/0026"/)
    expect(csv('03/09/2026;c')).to.equal('Line 5: there is no column Valor')
    expect(csv('03/09/2026;"c;1,00;')).to.equal('Line 5: a quotation does not end')
    expect(csv('', { textColumns: ['Nada'] })).to.equal('Line 2: the file has no column Nada')
    expect(csv('03/09/2026;c;1,00;2,00', sides)).to.match(/^Line 3: money in of "-1,00" has a minus sign$/)
  })

  it('of CSV has a day, or a day and its time, and nothing else where its date is', () => {
    type Format = CsvMapping['date']['format']
    const day = (text: string, format: Format) => {
      const found = read('csv', Buffer.from(['', 'Data;Texto;Valor', `${text};c;1,00`].join('\n')), {
        ...mapping,
        date: { column: 'Data', format },
      })
      return 'code' in found ? found.message : found.lines[0]?.bookedOn
    }
    const days: [Format, string][] = [
      ['YYYY-MM-DD', '2026-01-02'],
      ['DD/MM/YYYY', '02/01/2026'],
      ['MM/DD/YYYY', '01/02/2026'],
      ['YYYYMMDD', '20260102'],
      ['DDMMYYYY', '02012026'],
      ['DD/MM/YY', '02/01/26'],
    ]
    for (const [format, text] of days) {
      for (const more of ['', ' ', ' 10:30', ' 23:59:59.123', 'T10:30:00-03:00', '  9h05'])
        expect(day(text + more, format), text + more).to.equal('2026-01-02')
      for (const more of ['1', '11', '-1', '/1', 'x', ' 1', ' x', 'T', ' 10', ' 10:3'])
        expect(day(text + more, format), text + more).to.equal(
          `Line 3: the date "${text}${more}" cannot be read as ${format}`,
        )
    }
  })

  it('of CSV has D or C behind an amount, as banks of Brazil write it', () => {
    const csv = (amount: string, map: Partial<CsvMapping> = {}) => {
      const found = read('csv', Buffer.from(['', 'Data;Texto;Valor;Saída', `03/09/2026;c;${amount}`].join('\n')), {
        ...mapping,
        ...map,
      })
      return 'code' in found ? found.message : found.lines[0]?.amount
    }
    for (const [text, amount] of [
      ['1.234,56 D', -123_456],
      ['1.234,56D', -123_456],
      ['1.234,56 C', 123_456],
      ['R$ 10,00 d', -1_000],
      ['10,00c', 1_000],
      ['-10,00 D', -1_000],
      ['0,00 D', 0],
    ] as const)
      expect(csv(`${text};`), text).to.equal(amount)
    expect(csv('1,234.50 D;', { decimal: '.' })).to.equal(-123_450)
    for (const text of ['-10,00 C', '+10,00 D', '10,00 DC', '10,00 E', 'D 10,00', 'D'])
      expect(csv(`${text};`), text).to.equal(`Line 3: the amount "${text}" cannot be read with the decimal mark ","`)
    const sides = { amount: { inColumn: 'Valor', outColumn: 'Saída' } }
    expect(csv(';10,00 D', sides)).to.equal(-1_000)
    expect(csv('10,00 C;', sides)).to.equal(1_000)
    expect(csv('10,00 D;', sides)).to.equal('Line 3: money in of "10,00 D" has a minus sign')
    expect(csv(';10,00 C', sides)).to.equal('Line 3: money out of "10,00 C" is marked as money in')
  })

  it('names branch and account with their check digits in CNAB 240, also where Itaú writes them', () => {
    const named = (header: [number, string][]) => {
      let line = records[1] ?? ''
      for (const [at, text] of header) line = line.slice(0, at - 1) + text + line.slice(at - 1 + text.length)
      const found = read('cnab240', Buffer.from(records.with(1, line).join('\r\n'), 'latin1'))
      return 'code' in found ? found.message : [found.branch, found.account]
    }
    expect(named([])).to.deep.equal([null, '0000000123456'])
    expect(named([[53, '003417']])).to.deep.equal(['00341-7', '0000000123456'])
    expect(
      named([
        [53, '00341 '],
        [71, ' 8'],
      ]),
    ).to.deep.equal(['00341', '0000000123458'])
  })

  it('of CSV has money in or money out in a line, not both', () => {
    const csv = (row: string) =>
      read('csv', Buffer.from(['', 'Data;Texto;Valor;Saída', row].join('\n')), {
        ...mapping,
        amount: { inColumn: 'Valor', outColumn: 'Saída' },
      })
    expect(csv('03/09/2026;c;1,00;2,00')).to.deep.equal({
      code: 'file_unreadable',
      message: 'Line 3: one line has money in and money out',
    })
    for (const out of ['2,00', '-2,00'])
      expect(csv(`03/09/2026;c;;${out}`)).to.have.nested.property('lines[0].amount', -200)
  })

  it('has no text that is cut in the middle of a letter', () => {
    const long = `${'x'.repeat(499)}😀`
    const found = read('ofx', ofxFile([{ ...one, memo: long }], { balance: '1', to: '2026-09-03', encoding: 'utf8' }))
    expect(found).to.have.nested.property('lines[0].text', 'x'.repeat(499))
    const amount = `${'9'.repeat(39)}😀`
    const wrong = ofxFile([{ ...one, amount }], { balance: '1', to: '2026-09-03', encoding: 'utf8' })
    expect(said('ofx', wrong)).to.equal(`Line 12: the amount "${'9'.repeat(39)}" cannot be read`)
    const half = Buffer.from(ofx({}).toString('latin1').replace('<CURDEF>BRL', '<CURDEF>BR&#xD83D;'), 'latin1')
    expect(read('ofx', half)).to.include({ currency: 'BR' })
  })
})
