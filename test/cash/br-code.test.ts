import { expect } from 'chai'
import { asciiOf, brCodeOf, crcOf, readBrCode } from '../../config/br-code.ts'
import { pixKeyOf } from '../../config/pix-keys.ts'
import { checkCodes } from '../../db/accounts-payable/payables/installments.ts'
import { stateOf } from '../financial/support.ts'

const key = '123e4567-e12b-12d1-a456-426655440000'
const house = { name: 'Pousada Exemplo', city: 'PARATY' }

const refusal = (work: () => void): string => {
  try {
    work()
    return 'done'
  } catch (error) {
    return stateOf(error)
  }
}

describe('BR Codes', () => {
  it('are those of the central bank to the last digit', () => {
    expect(crcOf('123456789')).to.equal('29B1')
    const plain = { pix: { key, text: '' }, amount: null, name: 'Fulano de Tal', city: 'BRASILIA', txid: '***' }
    expect(brCodeOf(plain)).to.match(/63041D3D$/)
    expect(brCodeOf({ pix: { key, text: '' }, amount: 19_990, ...house, txid: 'DEP0001' })).to.match(/6304682E$/)
    const location = 'pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca25'
    expect(brCodeOf({ pix: { location }, amount: 19_990, ...house, txid: 'x' })).to.match(/6304C784$/)
  })

  it('say in plain letters what fits, and are read again', () => {
    expect(asciiOf('São João 😀 Çedilha', 25)).to.equal('Sao Joao Cedilha')
    expect(asciiOf('A'.repeat(26), 25)).to.have.length(25)
    const long = brCodeOf({
      pix: { key: `${'a'.repeat(60)}@example.com`, text: 'Depósito da estadia'.repeat(5) },
      amount: 1,
      name: 'Pousada Maravilhosa do Sol Nascente',
      city: 'São José dos Campos',
      txid: 'A'.repeat(25),
    })
    expect(/26(\d\d)/.exec(long)?.[1]).to.equal('99')
    expect(readBrCode(long)).to.deep.equal({
      amount: 1,
      name: 'Pousada Maravilhosa do So',
      key: `${'a'.repeat(60)}@example.com`,
    })
    expect(readBrCode(long.replace('0.01', '0.02'))).to.equal(null)
    expect(readBrCode(long.slice(0, -1))).to.equal(null)
    expect(readBrCode('')).to.equal(null)
  })

  it('take keys of each type as the bank knows them', () => {
    expect(pixKeyOf('cpf', '529.982.247-25')).to.equal('52998224725')
    expect(pixKeyOf('cpf', '52998224726')).to.equal(null)
    expect(pixKeyOf('cnpj', '11.222.333/0001-81')).to.equal('11222333000181')
    expect(pixKeyOf('email', 'Caixa@Example.COM')).to.equal('caixa@example.com')
    expect(pixKeyOf('email', 'caixa')).to.equal(null)
    expect(pixKeyOf('phone', '+5521999998888')).to.equal('+5521999998888')
    expect(pixKeyOf('phone', '21999998888')).to.equal(null)
    expect(pixKeyOf('random', key.toUpperCase())).to.equal(key)
    expect(pixKeyOf('random', 'x')).to.equal(null)
  })

  /** A code with a check sum, of these fields. */
  const codeOf = (...fields: [string, string][]): string => {
    const text = `${fields.map(([id, value]) => `${id}${String(value.length).padStart(2, '0')}${value}`).join('')}6304`
    return text + crcOf(text)
  }
  const ofPix = `0014br.gov.bcb.pix0136${key}`
  const around = (...accounts: [string, string][]) =>
    codeOf(['00', '01'], ...accounts, ['52', '0000'], ['53', '986'], ['54', '7.5'], ['58', 'BR'], ['59', 'Loja'])

  it('are read alike of a transfer and of a bill, whichever account template they stand in', () => {
    const refused = (pixCode: string) =>
      refusal(() => checkCodes([{ dueOn: '2026-11-01', amount: 750, pixCode }], '2026-10-01'))
    const good = [around(['26', ofPix]), around(['26', '0009other.net0103abc'], ['27', ofPix])]
    for (const code of good) {
      expect(readBrCode(code)).to.deep.equal({ amount: 750, name: 'Loja', key })
      expect(refused(code)).to.equal('done')
    }
    // Keys are judged by their digits, as those that are typed.
    const static_ = (text: string) =>
      around(['26', `0014br.gov.bcb.pix01${String(text.length).padStart(2, '0')}${text}`])
    for (const [text, isKey] of [
      ['52998224725', true],
      ['52998224726', false],
      ['11222333000181', true],
      ['11222333000182', false],
      ['caixa@example.com', true],
      ['caixa', false],
      ['+5521999998888', true],
      ['529.982.247-25', false],
    ] as const) {
      expect(readBrCode(static_(text))?.key ?? null, text).to.equal(isKey ? text : null)
      expect(refused(static_(text)), text).to.equal(isKey ? 'done' : 'validation_failed')
    }
    const dynamic = (text: string) =>
      around(['26', `0014br.gov.bcb.pix25${String(text.length).padStart(2, '0')}${text}`])
    expect(readBrCode(dynamic('pix.example.com/v2/1'))).to.deep.equal({ amount: 750, name: 'Loja', key: null })
    for (const text of ['https://pix.example.com/1', 'nowhere']) expect(readBrCode(dynamic(text))).to.equal(null)
    const bad = [
      around(['26', '0014br.gov.bcb.pix']),
      around(['26', '0018xbr.gov.bcb.pix.co']),
      around(['26', `${ofPix}2511example.com`]),
      around(['52', ofPix]),
      around(['26', ofPix], ['26', ofPix]),
    ]
    for (const code of bad) {
      expect(readBrCode(code), code).to.equal(null)
      expect(refused(code), code).to.equal('validation_failed')
    }
  })
})
