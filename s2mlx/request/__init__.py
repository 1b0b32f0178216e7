"""One request, from text to pieces of sound.

The walk of `s2mlx say -v clara -o a.wav "Hello."`, each room entered once on the way down and once on the way up:

    cli           words -> text, `Options`; the name -> a `Voice` (voices, files); what can be refused is refused
    weights, networks, codec      once, by `load`: file -> checkpoint -> networks
    synthesizer   text, voices, options -> a request for its thread
    worker        queues it; all below happens on the thread that MLX runs on
    request       text -> passes (text), pass + voices + history -> the matrix of a prompt
    networks      matrix -> frames of codes, one after the other (layers, kernels)
    request       frames -> pieces worth a decode
    codec         codes -> samples (layers, kernels)
    request       samples -> `AudioChunk` (results)
    worker        hands it to the thread that asked
    synthesizer   gives it to who asked, as it is
    cli           chunk -> file and loudspeaker (audio, files)
"""
