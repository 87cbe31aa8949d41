import { expect } from 'chai'
import { majorText, minorDigits, moneyText } from '../../config/minor-units.ts'
import { depositText } from '../../db/properties/rules/policy-text.ts'

describe('minor units', () => {
  it('are those of ISO 4217, also where people write fewer places', () => {
    const digits = ['BRL', 'COP', 'HUF', 'IDR', 'CLP', 'PYG', 'JPY', 'KWD', 'IQD', 'CLF'].map(minorDigits)
    expect(digits).to.deep.equal([2, 2, 2, 2, 0, 0, 0, 3, 3, 4])
  })

  it('read as amounts of their currency', () => {
    expect(majorText(-90, 'EUR')).to.equal('-0.90')
    expect(majorText(150_050, 'COP')).to.equal('1500.50')
    expect(majorText(1_200, 'JPY')).to.equal('1200')
    expect(majorText(5, 'KWD', ',')).to.equal('0,005')
    expect(moneyText(150_050, 'COP', 'en').replace(/\s/, ' ')).to.equal('COP 1,500.50')
    expect(moneyText(150_050, 'HUF', 'en').replace(/\s/, ' ')).to.equal('HUF 1,500.50')
    expect(moneyText(1_200, 'JPY', 'en')).to.equal('¥1,200')
    expect(moneyText(1_005, 'KWD', 'en').replace(/\s/, ' ')).to.equal('KWD 1.005')
  })

  it('of a deposit are not read as whole units', () => {
    const rules = {
      installments: [{ due: 'booking' as const, type: 'amount' as const, value: 150_050 }],
      graceHours: 24,
      ifUnpaid: 'cancel' as const,
    }
    expect(depositText(rules, { locale: 'en', currency: 'COP' }).replace(/\s/g, ' ')).to.equal(
      'COP 1,500.50 is due at booking.',
    )
  })
})
