import { expect } from 'chai'
import { shareOut, uncovered } from '../../db/reservations/rules/deposits.ts'
import { extendedHold, holdAllowance } from '../../db/reservations/rules/holds.ts'
import { bookingNumber, readBookingNumber } from '../../db/reservations/rules/number.ts'
import { bookingStatus } from '../../db/reservations/rules/states.ts'

describe('Rules of reservations', () => {
  describe('booking numbers', () => {
    const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

    it('have eight characters that nobody mixes up, and read back as typed', () => {
      for (let n = 0; n < 500; n += 1) {
        const number = bookingNumber()
        expect(number).to.match(/^[0-9A-HJKMNP-TV-Z]{8}$/)
        expect(readBookingNumber(number)).to.equal(number)
        expect(readBookingNumber(` ${number.slice(0, 4).toLowerCase()}-${number.slice(4)} `)).to.equal(number)
        expect(readBookingNumber(number.replaceAll('0', 'o').replaceAll('1', 'l'))).to.equal(number)
      }
    })

    it('are refused with any one character wrong', () => {
      const number = bookingNumber()
      for (let at = 0; at < 8; at += 1)
        for (const character of alphabet)
          if (character !== number[at])
            expect(readBookingNumber(number.slice(0, at) + character + number.slice(at + 1))).to.equal(null)
      for (const wrong of ['', '1234567', 'ÇÇÇÇÇÇÇÇ', `${number}0`]) expect(readBookingNumber(wrong)).to.equal(null)
    })
  })

  it('let the most advanced live room speak for the booking, else the one that ended last', () => {
    const at = (status: Parameters<typeof bookingStatus>[0][number]['status'], day: number) => ({
      status,
      updatedAt: new Date(2026, 0, day),
    })
    expect(bookingStatus([at('held', 1), at('confirmed', 1), at('cancelled', 9)])).to.equal('confirmed')
    expect(bookingStatus([at('confirmed', 1), at('checked_in', 1)])).to.equal('in_house')
    expect(bookingStatus([at('cancelled', 2), at('expired', 1)])).to.equal('cancelled')
    expect(bookingStatus([at('cancelled', 1), at('checked_out', 2)])).to.equal('completed')
  })

  it('extend a hold to the payment’s end and never beyond the cap of its method, nor back', () => {
    const minutes = (count: number) => new Date(Date.UTC(2026, 0, 1, 0, count))
    const hold = { createdAt: minutes(0), holdExpiresAt: minutes(10), holdCapAt: minutes(45) }
    expect(extendedHold(hold, 'card', minutes(24), 72)).to.deep.equal({ expiresAt: minutes(24), capAt: minutes(45) })
    expect(extendedHold(hold, 'card', minutes(50), 72)).to.deep.equal({ expiresAt: minutes(45), capAt: minutes(45) })
    expect(extendedHold(hold, 'pix', minutes(50), 72)).to.deep.equal({ expiresAt: minutes(50), capAt: minutes(90) })
    expect(extendedHold(hold, 'boleto', minutes(6000), 72)).to.deep.equal({
      expiresAt: minutes(72 * 60),
      capAt: minutes(72 * 60),
    })
    expect(
      extendedHold({ ...hold, holdExpiresAt: minutes(40), holdCapAt: minutes(90) }, 'card', minutes(20), 72),
    ).to.deep.equal({
      expiresAt: minutes(40),
      capAt: minutes(90),
    })
  })

  it('let strangers hold a share of a night, at least three and never more than there is', () => {
    expect([1, 2, 3, 10, 11, 100].map((capacity) => holdAllowance(capacity, 3000))).to.deep.equal([1, 2, 3, 3, 4, 30])
    expect(holdAllowance(10, 10_000)).to.equal(10)
  })

  it('fill installments in order of their dates', () => {
    const day = (number: number) => new Date(Date.UTC(2026, 0, number))
    const installments = [
      { dueAt: day(1), amount: 100, waivedAmount: 20 },
      { dueAt: day(5), amount: 50, waivedAmount: 0 },
    ]
    expect(uncovered(installments, 0, day(2))).to.equal(80)
    expect(uncovered(installments, 90, day(2))).to.equal(0)
    expect(uncovered(installments, 90, day(6))).to.equal(40)
  })

  it('share money out by what is due first, and hand out no more than there is', () => {
    expect(
      shareOut(100, [
        { due: 30, payable: 200 },
        { due: 50, payable: 60 },
      ]),
    ).to.deep.equal([50, 50])
    expect(
      shareOut(40, [
        { due: 30, payable: 200 },
        { due: 50, payable: 60 },
      ]),
    ).to.deep.equal([30, 10])
    for (let n = 0; n < 200; n += 1) {
      const money = Math.floor(Math.random() * 500)
      const stays = Array.from({ length: 1 + Math.floor(Math.random() * 5) }, () => {
        const payable = Math.floor(Math.random() * 200)
        return { payable, due: Math.floor(Math.random() * 300) }
      })
      const parts = shareOut(money, stays)
      const sum = parts.reduce((total, part) => total + part, 0)
      expect(sum).to.equal(
        Math.min(
          money,
          stays.reduce((total, stay) => total + stay.payable, 0),
        ),
      )
      parts.forEach((part, index) => expect(part).to.be.within(0, stays[index]?.payable ?? 0))
    }
  })
})
