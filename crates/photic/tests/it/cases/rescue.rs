//! Cases of pictures inside text: whole ones are shown, everything else stays as it came.
