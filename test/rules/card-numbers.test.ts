import { expect } from 'chai'
import { cardFields } from '../../api/lib/cards.ts'
import { routes } from '../../api/routes.ts'
import { holdsCardNumber, isCardNumber, withoutCardData } from '../../config/card-numbers.ts'

const visa = '4111111111111111'
const fours = (number: string, between: string) => number.replace(/(.{4})(?=.)/g, `$1${between}`)

describe('card numbers as people write them', () => {
  const written: [string, string][] = [
    ['in one piece', visa],
    ['in a sentence', `please charge ${visa}, thanks`],
    ['with a date and a code behind', `${fours(visa, ' ')} 12/27 123`],
    ['with a date and a code behind, unbroken', `${visa}1227123`],
    ['with slashes to the date', `${visa}/12/27/123`],
    ['with digits in front', `301 ${fours(visa, ' ')}`],
    ['with digits in front, unbroken', `12345${visa}`],
    ['with digits on both sides', `77${visa}1227`],
    ...['.', '/', ' - ', '\u00a0', '\u2009', '\u2011', '\u200b', '·', '_', '\n', ' . '].map(
      (between): [string, string] => [`set apart by ${JSON.stringify(between)}`, fours(visa, between)],
    ),
    ['each digit alone', Array.from(visa).join(' ')],
    ['by twos', visa.replace(/(..)(?=.)/g, '$1-')],
    ['behind the issuer’s six', '411111 1111111111'],
    ['in full-width digits', Array.from(visa, (digit) => String.fromCharCode(0xff10 + Number(digit))).join('')],
    ['in Arabic digits', Array.from(visa, (digit) => String.fromCharCode(0x0660 + Number(digit))).join('')],
    ['in mathematical digits', Array.from(visa, (digit) => String.fromCodePoint(0x1d7ce + Number(digit))).join('')],
    ['of Mastercard', '5555 5555 5555 4444'],
    ['of Mastercard’s second range', '2223 0031 2200 3222'],
    ['of American Express', '3782 822463 10005'],
    ['of Diners', '3056 930902 5904'],
    ['of Diners, 36', '36227206271667'],
    ['of JCB', '3566 0020 2036 0505'],
    ['of Discover', '6011 1111 1111 1117'],
    ['of Elo, 5067', '5067 2300 0000 0000'.replace(/0$/, '2')],
    ['of Elo, 6362', '6362 9700 0045 7013'],
    ['of Hipercard', '6062 8256 2425 4001'],
    ['of UnionPay', '6250 9470 0000 0014'],
  ]
  const sum = (text: string) => {
    const digits = text.replace(/\D/g, '')
    return Array.from(digits).reduceRight((total, digit, at) => {
      const doubled = (digits.length - at) % 2 === 0 ? Number(digit) * 2 : Number(digit)
      return total + (doubled > 9 ? doubled - 9 : doubled)
    }, 0)
  }
  for (const [how, text] of written)
    it(`are found ${how}`, () => {
      if (how.startsWith('of ')) expect(sum(text) % 10, 'the number of the test itself').to.equal(0)
      expect(holdsCardNumber(text), text).to.equal(true)
      expect(holdsCardNumber(withoutCardData(text)), withoutCardData(text)).to.equal(false)
    })

  it('are not seen in what else a house writes', () => {
    for (const text of [
      '+55 24 99999-0000 / +55 24 98888-7777',
      '5524999990000 / 5524988887777',
      '24 99999-0000, 24 98888-7777',
      '+49 1511 23456789',
      'arrives 2026-11-20 14:00, leaves 2026-11-25 11:00',
      '2026-11-20 2026-11-21 2026-11-22 2026-11-23',
      '38.123.456/0001-94',
      '23793.38128 60007.827136 95000.063305 9 84340000012345',
      '35200714200166000187550010000000046271031234',
      'rooms 101 102 103 104 105 106 107 108',
      '4111 1111 1111 1112',
      'R$ 4.111,00 + 1.111,00',
      '8f14e45f-ceea-467d-9e3b-411111111111',
      'chaos-77704e77-3685-4398-8372-84543c53c5ae',
      'chaos-e86c6da6-c2bb-4451-9760-87258700e214',
    ])
      expect(holdsCardNumber(text), text).to.equal(false)
  })

  it('are taken out and nothing around them is', () => {
    expect(withoutCardData(`Ana pays with ${fours(visa, '.')} and ${visa} at noon, CVV 123`)).to.equal(
      'Ana pays with [removed] and [removed] at noon, [removed]',
    )
    const id = '77704e77-3685-4398-8372-84543c53c5ae'
    expect(withoutCardData(`${id} ${visa} ${id}`)).to.equal(`${id} [removed] ${id}`)
  })

  it('are no documents, though a document may hold such digits', () => {
    expect([visa, fours(visa, ' '), '3782 822463 10005'].map(isCardNumber)).to.deep.equal([true, true, true])
    for (const text of ['411111111111111199', '52998224725', '38.123.456/0001-94', `P${visa}`, '+378282246310005'])
      expect(isCardNumber(text), text).to.equal(false)
  })

  it('are refused in every text of every body but those that declare what else they hold', () => {
    type Json = { [key: string]: unknown }
    const other = new Set(['uuid4', 'instant', 'day'])
    const found: string[] = []
    const visit = (route: string, schema: Json, at: string, place: (inner: unknown) => unknown, root: Json): void => {
      for (const option of [schema, ...((schema.anyOf ?? []) as Json[])]) {
        if (
          option.type === 'string' &&
          !option.enum &&
          !option.cardNumber &&
          !(typeof option.format === 'string' && other.has(option.format))
        ) {
          if (cardFields(root, place(`Ana ${fours(visa, '\u00a0')} 12/27`)).length === 0) found.push(`${route} ${at}`)
        }
        if (option.items) visit(route, option.items as Json, `${at}[]`, (inner) => place([inner]), root)
        for (const [name, inside] of Object.entries((option.properties as Json | undefined) ?? {}))
          visit(route, inside as Json, `${at}.${name}`, (inner) => place({ [name]: inner }), root)
      }
    }
    for (const { id, body } of routes) if (body) visit(id, body as Json, 'body', (inner) => inner, body as Json)
    expect(found).to.deep.equal([])
  })

  it('cost a text of any length one look at each of its digits', () => {
    // A mebibyte that is all beginnings of cards: by windows over windows it would outlast the test.
    for (const text of ['4'.repeat(1_048_576), '4 '.repeat(524_288), '4111 '.repeat(209_715)]) holdsCardNumber(text)
  })
})
