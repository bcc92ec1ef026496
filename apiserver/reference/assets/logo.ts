/** Our sign: a horn. */
export const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="5" fill="#1a57b0"/><path d="M4 10v4h3l9 5V5l-9 5H4zm14 0c1 .5 1.5 1.2 1.5 2s-.5 1.5-1.5 2z" fill="#fff"/></svg>`;
