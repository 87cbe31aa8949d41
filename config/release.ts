/** The release that this code is, as package.json says it. */
export const release = '0.1.0'
