/** The nil UUID: before every id, so that a walk by ids begins after it. */
export const nilId = '00000000-0000-0000-0000-000000000000'
