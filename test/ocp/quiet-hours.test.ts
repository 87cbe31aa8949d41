import { expect } from 'chai'
import { quietUntil } from '../../db/ocp/rules/quiet-hours.ts'

const until = (quietFrom: string, end: string, timeZone: string) => (now: string) =>
  quietUntil({ quietFrom, quietUntil: end }, timeZone, new Date(now))?.toISOString().slice(0, 16) ?? null

describe('quiet hours', () => {
  it('span midnight, begin with their first minute and are over with their last', () => {
    const inRio = until('21:00', '08:00', 'America/Sao_Paulo')
    expect(
      ['2026-06-09T23:59Z', '2026-06-10T00:00Z', '2026-06-10T10:59Z', '2026-06-10T11:00Z'].map(inRio),
    ).to.deep.equal([null, '2026-06-10T11:00', '2026-06-10T11:00', null])
    expect(
      ['2026-06-10T16:59Z', '2026-06-10T17:00Z', '2026-06-10T18:00Z'].map(until('14:00', '15:00', 'America/Sao_Paulo')),
    ).to.deep.equal([null, '2026-06-10T18:00', null])
    expect(until('08:00', '08:00', 'America/Sao_Paulo')('2026-06-10T11:00Z'), 'none').to.equal(null)
  })

  it('end with the first instant after an hour that is skipped', () => {
    const inNewYork = until('21:00', '02:30', 'America/New_York')
    expect(['2026-03-08T06:59Z', '2026-03-08T07:00Z'].map(inNewYork)).to.deep.equal(['2026-03-08T07:00', null])
    // Midnight itself is skipped.
    expect(until('21:00', '00:30', 'America/Santiago')('2026-09-06T03:00Z')).to.equal('2026-09-06T04:00')
  })

  it('hold in both hours of one that comes twice, and always end later', () => {
    const inNewYork = until('21:00', '01:30', 'America/New_York')
    expect(
      ['2026-11-01T05:10Z', '2026-11-01T05:30Z', '2026-11-01T06:10Z', '2026-11-01T06:30Z'].map(inNewYork),
    ).to.deep.equal(['2026-11-01T05:30', null, '2026-11-01T06:30', null])
    expect(until('22:00', '01:45', 'Australia/Lord_Howe')('2026-04-04T15:10Z')).to.equal('2026-04-04T15:15')
  })
})
