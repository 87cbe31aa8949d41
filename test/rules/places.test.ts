import { expect } from 'chai'
import { Country, Language, TimeZone } from '../../config/schema.ts'
import { compile } from '../../config/validator.ts'

const messageOf = (schema: typeof Country, value: string) => compile(schema)(value)?.at(-1)?.message ?? null
const refused = (schema: typeof Country, values: string[]) =>
  values.filter((value) => messageOf(schema, value) !== null)

describe('a code', () => {
  it('of a country is one of ISO 3166-1, or Kosovo’s; no union, nothing that is no more, and no blank to be filled', () => {
    const letters = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ')
    const all = letters.flatMap((first) => letters.map((second) => first + second))
    expect(all.length - refused(Country, all).length).to.equal(250)
    expect(refused(Country, ['BR', 'PT', 'GB', 'XK', 'AQ', 'TW', 'PS', 'SS', 'CW'])).to.deep.equal([])
    const wrong = ['XX', 'ZZ', 'EU', 'UN', 'UK', 'SU', 'AN', 'YU', 'XA', 'QO', 'br', 'BRA', '']
    expect(refused(Country, wrong)).to.deep.equal(wrong)
    expect(messageOf(Country, 'XX')).to.equal('must be the code of a country by ISO 3166-1, such as BR')
  })

  it('of a language is one that has a name, of a country that there is', () => {
    expect(refused(Language, ['en', 'pt-BR', 'es-419', 'zh-Hant', 'zh-Hant-HK', 'gn', 'ckb'])).to.deep.equal([])
    const wrong = ['xx', 'qqq', 'und', 'pt-XX', 'en-UK', 'zh-Abcd', 'es-999', 'PT-br', 'english', '']
    expect(refused(Language, wrong)).to.deep.equal(wrong)
    expect(messageOf(Language, 'xx')).to.equal('must be the tag of a language, such as pt-BR')
  })

  // PostgreSQL reads signs of offsets the other way round.
  it('of a time zone is a name, and no offset', () => {
    expect(refused(TimeZone, ['America/Sao_Paulo', 'UTC', 'Etc/GMT+3'])).to.deep.equal([])
    const wrong = ['Mars/Base', '+03', '-0300', '+03:00', 'GMT+3', 'BRT3', '']
    expect(refused(TimeZone, wrong)).to.deep.equal(wrong)
  })
})
